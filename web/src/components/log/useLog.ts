// Binds a LogModel to the element that scrolls: its size, its bar, the heights of wrapped lines.
import { useCallback, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore, type RefObject } from 'react';
import { columnsOf } from './visible';
import { LogModel, type FetchLines } from './model';

export const rowHeight = 19; // as in LogView.module.css
const settled = 160; // ms without an event: the person has let go of the bar

interface Settings {
  logKey: string; // another one: another log
  fetchLines: FetchLines;
  initialLine: number | undefined;
  size: number | undefined;
  ended: boolean | undefined;
  wrap: boolean;
}

/** Columns that fit, by the width of a letter. */
interface Grid {
  letter: number;
  columns: number;
}

export function useLog(viewport: RefObject<HTMLDivElement | null>, settings: Settings) {
  const { logKey, initialLine, wrap } = settings;
  const fetchLines = useRef(settings.fetchLines);
  fetchLines.current = settings.fetchLines;
  const [held, setHeld] = useState(() => ({ logKey, model: make() }));
  function make() {
    return new LogModel((from, count) => fetchLines.current(from, count), rowHeight, initialLine);
  }
  let { model } = held;
  if (held.logKey !== logKey) {
    model = make();
    setHeld({ logKey, model });
  }
  useSyncExternalStore(model.subscribe, model.snapshot);
  useEffect(() => {
    model.start();
    return () => model.stop();
  }, [model]);
  useEffect(() => model.signal(settings.size, settings.ended), [model, settings.size, settings.ended]);

  const grid = useRef<Grid>({ letter: 7.2, columns: 100 });
  const lastEvent = useRef(-Infinity);

  useLayoutEffect(() => {
    const element = viewport.current;
    if (!element) return;
    const fit = () => {
      const before = grid.current.columns;
      grid.current.columns = Math.max(10, Math.floor((element.clientWidth - 80) / grid.current.letter));
      if (wrap && grid.current.columns !== before) model.rewrap();
      model.setViewport(element.clientHeight);
      model.changed();
    };
    grid.current.letter = letterWidth(element) || grid.current.letter;
    const guess = (line: number) => {
      const item = model.cache.get(line);
      return item ? rowHeight * Math.max(1, Math.ceil(columnsOf(item.text) / grid.current.columns)) : rowHeight;
    };
    model.scroller.wrap(wrap ? guess : null);
    fit();
    if (model.follow.following) model.scroller.toEnd();
    const sizes = new ResizeObserver(fit);
    sizes.observe(element);
    return () => sizes.disconnect();
  }, [model, wrap, viewport]);

  // After each drawing: how high are the wrapped lines really, and where should the bar stand?
  useLayoutEffect(() => {
    const element = viewport.current;
    if (!element) return;
    // A bar that stood farther down than there is room now was moved by the browser, by nobody else.
    const { scrollTop, scrollHeight, clientHeight } = element;
    const atLowest = scrollTop >= scrollHeight - clientHeight - 1;
    if (atLowest && scrollTop < model.scroller.lastTop) model.scroller.placed(scrollTop);
    if (wrap) {
      let other = false;
      for (const row of element.querySelectorAll<HTMLElement>('[data-line]')) {
        const line = Number(row.dataset.line);
        if (row.offsetHeight > 0 && model.cache.get(line) && model.scroller.measure(line, row.offsetHeight)) other = true;
      }
      if (other) {
        if (model.follow.following) model.scroller.toEnd();
        else model.scroller.clamp();
        model.changed();
        return;
      }
    }
    const place = () => {
      const { top, lastTop } = model.scroller;
      // Moved, but its event has not come yet: that goes before.
      if (Math.abs(element.scrollTop - lastTop) >= 1) return model.scrolled(element.scrollTop);
      if (Math.abs(element.scrollTop - top) >= 1) element.scrollTop = top;
      model.scroller.placed(element.scrollTop);
    };
    const atEnd = scrollTop <= 0 || atLowest;
    const quiet = performance.now() - lastEvent.current;
    if (model.scroller.exact || atEnd || quiet >= settled) return place();
    // The bar of a long log goes its own way while someone holds it.
    const timer = setTimeout(place, settled - quiet + 10);
    return () => clearTimeout(timer);
  });

  const onScroll = useCallback(() => {
    const element = viewport.current;
    if (!element) return;
    lastEvent.current = performance.now();
    model.scrolled(element.scrollTop);
  }, [model, viewport]);

  return { model, onScroll, grid };
}

/** The width of a letter of the log, in pixels. */
function letterWidth(element: HTMLElement): number {
  const probe = document.createElement('span');
  probe.textContent = 'x'.repeat(50);
  probe.style.position = 'absolute';
  probe.style.visibility = 'hidden';
  element.append(probe);
  const { width } = probe.getBoundingClientRect();
  probe.remove();
  return width / 50;
}
