// Plot is uPlot as this page uses it: it lays out axes, keeps the canvas sharp at any pixel ratio, moves the cursor and draws
// the selection. Its scales are places from 0 to 1; values, ticks and lines are ours (scale.ts, ticks.ts, paint.ts).
import uPlot from 'uplot';
import type { Language } from '@/lib/format';
import type { ChartLine, XKind, XRange } from './line';
import { paintLines, palettes } from './paint';
import { xTicks, yTicks, type Tick } from './ticks';
import type { Frame } from './trace';

export interface Picture {
  lines: readonly ChartLine[];
  frame: Frame;
  xKind: XKind;
  scheme: 'light' | 'dark';
  language: Language;
}

export interface PlotEvents {
  /** The cursor stands at `x`, `left` pixels from the plot's left edge; null: nowhere. */
  onCursor: (at: { x: number; left: number } | null) => void;
  onSelect: (range: XRange) => void;
}

const leastDrag = 6; // pixels; less is a click
const axisFont = '11px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", sans-serif';

export class Plot {
  private readonly plot: uPlot;
  private axisWidth = 44;
  private ticks: { x: Tick[]; y: Tick[] } = { x: [], y: [] };
  private readonly unbind: () => void;

  constructor(
    host: HTMLElement,
    size: { width: number; height: number },
    private picture: Picture,
    private readonly events: PlotEvents,
  ) {
    const color = (name: 'text' | 'grid' | 'edge') => () => palettes[this.picture.scheme][name];
    const axis = (which: 'x' | 'y'): uPlot.Axis => ({
      scale: which,
      font: axisFont,
      stroke: color('text'),
      gap: which === 'x' ? 4 : 6,
      space: 10,
      incrs: [1],
      splits: (_plot, _axis, _min, _max, _step, space) => this.makeTicks(which, space).map((tick) => tick.place),
      values: () => this.ticks[which].map((tick) => tick.label),
      grid: { stroke: color('grid'), width: 1 },
      ticks: { stroke: color('edge'), width: 1, size: which === 'x' ? 4 : 0 },
      border: { show: which === 'x', stroke: color('edge'), width: 1 },
    });
    this.plot = new uPlot(
      {
        ...size,
        legend: { show: false },
        pxAlign: true,
        padding: [10, 20, 0, 0],
        scales: { x: { time: false, range: [0, 1] }, y: { range: [0, 1] } },
        // One series of nothing, so that there is a y scale.
        series: [{}, { scale: 'y', auto: false, paths: () => null, points: { show: false } }],
        axes: [
          { ...axis('x'), size: 26 },
          { ...axis('y'), side: 3, size: (_plot, labels) => this.fitAxis(labels ?? []) },
        ],
        cursor: {
          y: false,
          points: { show: false },
          drag: { x: true, y: false, setScale: false, dist: leastDrag },
          bind: { dblclick: () => () => null },
        },
        hooks: {
          draw: [(plot) => this.paint(plot)],
          setCursor: [(plot) => this.cursorMoved(plot)],
          setSelect: [(plot) => this.selected(plot)],
        },
      },
      [[0, 1], [null, null]],
      host,
    );
    this.unbind = this.bindTouch();
  }

  show(picture: Picture) {
    if (picture.frame.y.kind !== this.picture.frame.y.kind) this.axisWidth = 44;
    this.picture = picture;
    this.plot.redraw(true, true);
  }

  resize(size: { width: number; height: number }) {
    if (size.width !== this.plot.width || size.height !== this.plot.height) this.plot.setSize(size);
  }

  /** Puts the cursor at `x`, or away. */
  point(x: number | null) {
    const place = x === null ? -1 : this.picture.frame.x.place(x);
    const left = place < 0 || place > 1 ? -10 : place * this.plot.over.clientWidth;
    this.plot.setCursor({ left, top: left < 0 ? -10 : 1 }, true);
  }

  /** Where the lines are, in pixels of the page from the host's corner. */
  get area() {
    const { left, top, width, height } = this.plot.bbox;
    const ratio = uPlot.pxRatio;
    return { left: left / ratio, top: top / ratio, width: width / ratio, height: height / ratio };
  }

  destroy() {
    this.unbind();
    this.plot.destroy();
  }

  private makeTicks(which: 'x' | 'y', pixels: number): Tick[] {
    const { frame, xKind, language } = this.picture;
    this.ticks[which] =
      which === 'x'
        ? xTicks(xKind, frame.x, Math.max(2, Math.floor(pixels / (xKind === 'elapsed' ? 96 : 78))), language)
        : yTicks(frame.y, Math.max(2, Math.floor(pixels / 40)));
    return this.ticks[which];
  }

  /** Wide enough for the longest label, and never narrower again: an axis that breathes makes the lines jump. */
  private fitAxis(labels: string[]): number {
    const longest = Math.max(0, ...labels.map((text) => text?.length ?? 0));
    this.axisWidth = Math.max(this.axisWidth, Math.ceil((longest * 6.4 + 14) / 4) * 4);
    return this.axisWidth;
  }

  private paint(plot: uPlot) {
    const { lines, frame, scheme } = this.picture;
    paintLines(plot.ctx, lines, frame, plot.bbox, uPlot.pxRatio, palettes[scheme]);
  }

  private cursorMoved(plot: uPlot) {
    const left = plot.cursor.left ?? -10;
    const width = plot.over.clientWidth;
    if (left < 0 || width === 0) this.events.onCursor(null);
    else this.events.onCursor({ x: this.picture.frame.x.valueAt(left / width), left });
  }

  private selected(plot: uPlot) {
    const { left, width } = plot.select;
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.zoomTo(left, left + width);
  }

  private zoomTo(left: number, right: number) {
    const width = this.plot.over.clientWidth;
    if (right - left < leastDrag || width === 0) return;
    const { x } = this.picture.frame;
    this.events.onSelect({ from: x.valueAt(left / width), to: x.valueAt(right / width) });
  }

  /** A finger that moves sideways selects as a mouse does; up and down it scrolls the page (touch-action in the style). */
  private bindTouch(): () => void {
    const { over } = this.plot;
    let from: number | null = null;
    const leftOf = (event: PointerEvent) => {
      const box = over.getBoundingClientRect();
      return Math.max(0, Math.min(box.width, event.clientX - box.left));
    };
    const span = (event: PointerEvent) => [Math.min(from!, leftOf(event)), Math.max(from!, leftOf(event))] as const;
    const noSelection = () => this.plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    const down = (event: PointerEvent) => {
      if (event.pointerType === 'mouse' || !event.isPrimary) return;
      from = leftOf(event);
      over.setPointerCapture?.(event.pointerId);
    };
    const move = (event: PointerEvent) => {
      if (from === null) return;
      const [left, right] = span(event);
      this.plot.setCursor({ left: leftOf(event), top: 1 }, true);
      this.plot.setSelect({ left, top: 0, width: right - left, height: over.clientHeight }, false);
    };
    const up = (event: PointerEvent) => {
      if (from === null) return;
      const [left, right] = span(event);
      from = null;
      noSelection();
      this.zoomTo(left, right);
    };
    const cancel = () => {
      from = null;
      noSelection();
    };
    over.addEventListener('pointerdown', down);
    over.addEventListener('pointermove', move);
    over.addEventListener('pointerup', up);
    over.addEventListener('pointercancel', cancel);
    return () => {
      over.removeEventListener('pointerdown', down);
      over.removeEventListener('pointermove', move);
      over.removeEventListener('pointerup', up);
      over.removeEventListener('pointercancel', cancel);
    };
  }
}
