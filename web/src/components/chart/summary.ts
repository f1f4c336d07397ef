// What a chart says in numbers: counts beside the names, values under the cursor, a sentence's worth for screen readers, a table.
import { mark } from '@/lib/points';
import { nearest, within, type ChartLine, type XRange } from './line';

interface Oddities {
  nan: number;
  infinite: number;
  notAbove0: number;
  atLeast: boolean; // points were left out: there may be more
}

/** Values of a line that a curve cannot show, or a log axis cannot place. */
export function odditiesOf(line: ChartLine, range: XRange | null): Oddities {
  const { x, y, marks, exact } = line.points;
  const [from, to] = range ? within(x, range) : [0, x.length];
  const odd: Oddities = { nan: 0, infinite: 0, notAbove0: 0, atLeast: exact === false };
  for (let i = from; i < to; i++) {
    const value = y[i]!;
    if (Number.isNaN(value)) odd.nan++;
    else if (!Number.isFinite(value)) odd.infinite++;
    else if (value <= 0) odd.notAbove0++;
  }
  if (marks) {
    // Marks may tell of points that were left out of the curve.
    const [first, end] = range ? within(marks.x, range) : [0, marks.x.length];
    let nan = 0;
    for (let i = first; i < end; i++) if (marks.kind[i] === mark.nan) nan++;
    odd.nan = Math.max(odd.nan, nan);
    odd.infinite = Math.max(odd.infinite, end - first - nan);
  }
  return line.counts ? { ...odd, ...line.counts, atLeast: false } : odd;
}

/** The last value that is a number, of the smoothed line where there is one; null when there is none. */
export function lastValue(line: ChartLine): number | null {
  const { y } = line.points;
  for (let i = y.length - 1; i >= 0; i--) if (!Number.isNaN(y[i])) return y[i]!;
  return null;
}

export interface Reading {
  line: ChartLine;
  x: number; // of the point that is read
  value: number;
  smooth: number | null;
}

/** What each line has at `x`: its nearest point, if one is no farther than `reach`. Largest first, NaN last. */
export function readingsAt(lines: readonly ChartLine[], x: number, reach: number): Reading[] {
  const readings: Reading[] = [];
  for (const line of lines) {
    const { points } = line;
    const at = nearest(points.x, x);
    if (at < 0 || Math.abs(points.x[at]! - x) > reach) continue;
    const smoothAt = points.smooth ? nearest(points.smooth.x, points.x[at]!) : -1;
    const smooth = smoothAt >= 0 ? points.smooth!.y[smoothAt]! : null;
    readings.push({ line, x: points.x[at]!, value: points.y[at]!, smooth });
  }
  const rank = (value: number) => (Number.isNaN(value) ? -Infinity : value);
  return readings.sort((a, b) => (rank(b.value) > rank(a.value) ? 1 : rank(b.value) < rank(a.value) ? -1 : 0));
}

/** The x of the point of any line that comes next in a direction; null at the end. */
export function nextPoint(lines: readonly ChartLine[], x: number, direction: 1 | -1, range: XRange): number | null {
  let found: number | null = null;
  for (const { points } of lines) {
    const xs = points.x;
    let at = nearest(xs, x);
    if (at < 0) continue;
    while (at > 0 && direction > 0 && xs[at]! > x) at--;
    while (at + 1 < xs.length && direction < 0 && xs[at]! < x) at++;
    while (at >= 0 && at < xs.length && (direction > 0 ? xs[at]! <= x : xs[at]! >= x)) at += direction;
    const next = xs[at];
    if (next === undefined || next < range.from || next > range.to) continue;
    if (found === null || (direction > 0 ? next < found : next > found)) found = next;
  }
  return found;
}

export interface Summary {
  line: ChartLine;
  points: number;
  first: number | null;
  last: number | null;
  least: number | null;
  most: number | null;
}

/** A line in sight, in a few numbers. */
export function summaryOf(line: ChartLine, range: XRange): Summary {
  const { x, y } = line.points;
  const [from, to] = within(x, range);
  const summary: Summary = { line, points: to - from, first: null, last: null, least: null, most: null };
  for (let i = from; i < to; i++) {
    const value = y[i]!;
    if (!Number.isFinite(value)) continue;
    summary.first ??= value;
    summary.last = value;
    if (summary.least === null || value < summary.least) summary.least = value;
    if (summary.most === null || value > summary.most) summary.most = value;
  }
  return summary;
}

export interface Table {
  rows: { x: number; values: (number | null)[] }[]; // null: the line has no point there
  left: number; // rows that were left out, evenly
}

/** One row for each x in sight, at most `most` of them, the first and the last among them. */
export function tableOf(lines: readonly ChartLine[], range: XRange, most: number): Table {
  const all = new Set<number>();
  for (const { points } of lines) {
    const [from, to] = within(points.x, range);
    for (let i = from; i < to; i++) all.add(points.x[i]!);
  }
  const xs = Float64Array.from(all).sort();
  const count = Math.min(xs.length, most);
  const picked = Array.from({ length: count }, (_, i) => xs[count < 2 ? 0 : Math.round((i * (xs.length - 1)) / (count - 1))]!);
  return {
    rows: picked.map((x) => ({
      x,
      values: lines.map(({ points }) => {
        const at = nearest(points.x, x);
        return at >= 0 && points.x[at] === x ? points.y[at]! : null;
      }),
    })),
    left: xs.length - count,
  };
}
