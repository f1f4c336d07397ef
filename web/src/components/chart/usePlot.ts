// Binds a Plot to an element: made when there is room, told of size and pictures, destroyed with it.
import { useCallback, useEffect, useLayoutEffect, useRef, type RefObject } from 'react';
import { Pace } from './pace';
import { Plot, type Picture, type PlotEvents } from './plot';

const period = 250; // ms between pictures of new data
const ahead = 160; // pixels out of view where a chart is kept true: it is right when it is scrolled in

interface PlotHandle {
  plot: RefObject<Plot | null>;
  area: () => Plot['area'] | null;
}

/**
 * `urgent` names what a person changed (theme, zoom, lines shown): when it differs the picture is drawn at once, while new
 * data waits for its turn and for the chart to be in view.
 */
export function usePlot(host: RefObject<HTMLDivElement | null>, height: number, picture: Picture, urgent: string, events: PlotEvents): PlotHandle {
  const plot = useRef<Plot | null>(null);
  const newest = useRef({ picture, events, height });
  newest.current = { picture, events, height };
  const inView = useRef(true);
  const missed = useRef(false);
  const pace = useRef<Pace | null>(null);
  const drawn = useRef<string | null>(null);
  const bare = useRef(true); // no line was drawn yet

  useLayoutEffect(() => {
    const element = host.current;
    if (!element) return;
    const fit = () => {
      const size = { width: Math.floor(element.clientWidth), height: newest.current.height };
      if (size.width < 40) return; // not laid out yet, or folded away
      if (plot.current) plot.current.resize(size);
      else
        plot.current = new Plot(element, size, newest.current.picture, {
          onCursor: (at) => newest.current.events.onCursor(at),
          onSelect: (range) => newest.current.events.onSelect(range),
        });
    };
    fit();
    const sizes = new ResizeObserver(fit);
    sizes.observe(element);
    const views = new IntersectionObserver((entries) => {
      inView.current = entries.some((entry) => entry.isIntersecting);
      if (!inView.current || !missed.current) return;
      missed.current = false;
      plot.current?.show(newest.current.picture);
    }, { rootMargin: `${ahead}px 0px` });
    views.observe(element);
    pace.current = new Pace(period);
    return () => {
      sizes.disconnect();
      views.disconnect();
      pace.current?.stop();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [host]);

  useEffect(() => {
    if (!plot.current) return;
    plot.current.resize({ width: Math.floor(host.current?.clientWidth ?? 0) || 40, height });
  }, [host, height]);

  useEffect(() => {
    // The first lines are drawn at once and wherever: a legend without its curve looks broken.
    const first = bare.current && picture.lines.some(({ points }) => points.x.length > 0);
    if (first) bare.current = false;
    const pressing = drawn.current !== urgent || first;
    drawn.current = urgent;
    pace.current?.run(() => {
      if (inView.current || first) plot.current?.show(newest.current.picture);
      else missed.current = true;
    }, pressing);
  }, [picture, urgent]);

  const area = useCallback(() => plot.current?.area ?? null, []);
  return { plot, area };
}
