// Scales: from values to places, 0 at the lower edge of a chart and 1 at the upper. uPlot is given places alone, so that no
// value (1e300, a zero on a log axis, all the same) ever comes into its own arithmetic.
import { within, type ChartLine, type ScaleKind, type XRange } from './line';

export interface Scale {
  kind: ScaleKind;
  from: number; // the value at place 0, or at `floor`
  to: number; // at place 1
  /** Log alone: where values stand that no logarithm has, below every other; 0 when there are none. */
  floor: number;
  place: (value: number) => number;
  valueAt: (place: number) => number;
}

/** What has to find room on a y axis. */
interface Extent {
  least: number; // of the finite values; above `most` when there is none
  most: number;
  leastAbove0: number; // Infinity when there is none
  leastSize: number; // the smallest absolute value that is not 0
  notAbove0: number; // how many values
}

/** The extent of what is seen of the lines: raw and smoothed. */
export function extentOf(lines: readonly ChartLine[], range: XRange): Extent {
  const extent: Extent = { least: Infinity, most: -Infinity, leastAbove0: Infinity, leastSize: Infinity, notAbove0: 0 };
  const look = (value: number, counted: boolean) => {
    if (!Number.isFinite(value)) return;
    if (value < extent.least) extent.least = value;
    if (value > extent.most) extent.most = value;
    if (value > 0 && value < extent.leastAbove0) extent.leastAbove0 = value;
    if (value !== 0 && Math.abs(value) < extent.leastSize) extent.leastSize = Math.abs(value);
    if (counted && value <= 0) extent.notAbove0++;
  };
  for (const { points } of lines) {
    const [from, to] = within(points.x, range);
    for (let i = from; i < to; i++) look(points.y[i]!, true);
    if (!points.smooth) continue;
    const [first, end] = within(points.smooth.x, range);
    for (let i = first; i < end; i++) look(points.smooth.y[i]!, false);
  }
  if (extent.least > extent.most) {
    // No value in sight, only the way of a line through: what it comes from and goes to.
    for (const { points } of lines) {
      const [from, to] = within(points.x, range);
      if (from > 0) look(points.y[from - 1]!, false);
      if (to < points.x.length) look(points.y[to]!, false);
    }
  }
  return extent;
}

/** A scale that shows all of an extent with some air around it. */
export function scaleFor(kind: ScaleKind, extent: Extent): Scale {
  if (kind === 'log') return logScale(extent);
  if (kind === 'symlog') return symlogScale(extent);
  return linearScale(...padded(extent.least, extent.most));
}

/** Both ends a little further out. Values that are all the same, or differ by no more than rounding, get an axis of their size. */
function padded(least: number, most: number): [number, number] {
  if (!(least <= most)) return [0, 1];
  const size = Math.max(Math.abs(least), Math.abs(most));
  if (most / 2 - least / 2 <= size * 1e-13) {
    const middle = least / 2 + most / 2;
    const air = Math.abs(middle) * 0.1 || 1;
    return [middle - air, Number.isFinite(middle + air) ? middle + air : Number.MAX_VALUE];
  }
  const air = (most / 2 - least / 2) * 0.1;
  const end = (value: number) => Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value));
  const low = least >= 0 && least - air < 0 ? 0 : least - air; // no negative loss where there is none
  return [end(low), end(most + air)];
}

export function linearScale(from: number, to: number): Scale {
  const half = to / 2 - from / 2; // of the span, which may be more than a number holds
  return {
    kind: 'linear',
    from,
    to,
    floor: 0,
    place: (value) => (value / 2 - from / 2) / half,
    valueAt: (place) => (from / 2 + half * place) * 2,
  };
}

function logScale({ leastAbove0, most, notAbove0 }: Extent): Scale {
  const floor = notAbove0 > 0 ? 0.08 : 0;
  let [low, high] = leastAbove0 <= most ? [Math.log10(leastAbove0), Math.log10(most)] : [-1, 1];
  const air = high - low < 1e-9 ? 0.3 : (high - low) * 0.05;
  low = Math.max(low - air, -323); // 1e-324 is 0
  high = Math.min(high + air, Math.log10(Number.MAX_VALUE));
  return {
    kind: 'log',
    from: 10 ** low,
    to: 10 ** high,
    floor,
    place: (value) => (value > 0 ? Math.max(0, floor + ((Math.log10(value) - low) / (high - low)) * (1 - floor)) : floor / 2),
    valueAt: (place) => (place < floor ? 0 : 10 ** (low + ((place - floor) / (1 - floor)) * (high - low))),
  };
}

/** Linear around zero, logarithmic beyond: the linear part ends where the smallest values are, but not below a millionth. */
function symlogScale({ least, most, leastSize }: Extent): Scale {
  const size = Math.max(Math.abs(least), Math.abs(most));
  const around = Math.max(Math.min(leastSize, size), size * 1e-6, Number.MIN_VALUE * 1e16);
  if (!(least <= most) || !Number.isFinite(around)) return { ...linearScale(-1, 1), kind: 'symlog' };
  const bend = (value: number) => Math.asinh(value / around);
  let [low, high] = [bend(least), bend(most)];
  const air = high - low < 1e-9 ? 0.5 : (high - low) * 0.05;
  [low, high] = [low - air, high + air];
  const unbend = (bent: number) => Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, Math.sinh(bent) * around));
  return {
    kind: 'symlog',
    from: unbend(low),
    to: unbend(high),
    floor: 0,
    place: (value) => (bend(value) - low) / (high - low),
    valueAt: (place) => unbend(low + place * (high - low)),
  };
}

/** The x axis: linear always. One point alone stands in the middle. */
export function xScaleFor(range: XRange | null): Scale {
  if (!range) return linearScale(0, 1);
  if (range.to - range.from > Math.abs(range.to) * 1e-14) return linearScale(range.from, range.to);
  const air = Math.max(1, Math.abs(range.from) * 1e-9);
  return linearScale(range.from - air, range.to + air);
}
