// What a chart draws.
import type { LineLook } from '@/lib/colors';
import type { Curve, Marks } from '@/lib/points';

export type XKind = 'step' | 'time' | 'elapsed';
export type ScaleKind = 'linear' | 'log' | 'symlog';

/** A piece of the x axis; seconds for `time` and `elapsed`. */
export interface XRange {
  from: number;
  to: number;
}

export interface Trace extends Curve {
  marks?: Marks;
  smooth?: Curve;
  exact?: boolean; // no point was left out; taken as true if absent
}

export interface ChartLine {
  key: string;
  label: string;
  look: LineLook;
  points: Trace; // a part as lib/points decodes it
  faint?: boolean; // an earlier attempt: pale and dashed
  counts?: { nan: number; infinite: number }; // where the yard knows better than the points that are here
}

/** The first index whose x is at least `x`. */
function firstAtLeast(xs: Float64Array, x: number): number {
  let [low, high] = [0, xs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (xs[middle]! < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Indices [from, to) of the points within the range. */
export function within(xs: Float64Array, range: XRange): [number, number] {
  const from = firstAtLeast(xs, range.from);
  let to = firstAtLeast(xs, range.to);
  while (to < xs.length && xs[to] === range.to) to++;
  return [from, to];
}

/** The index of the point nearest to `x`; -1 when there is none. */
export function nearest(xs: Float64Array, x: number): number {
  const right = firstAtLeast(xs, x);
  if (right === xs.length) return right - 1;
  if (right === 0) return 0;
  return xs[right]! - x < x - xs[right - 1]! ? right : right - 1;
}

/** From the first x of all lines to the last; null when there is no point at all. */
export function wholeRange(lines: readonly ChartLine[]): XRange | null {
  let [from, to] = [Infinity, -Infinity];
  for (const { points } of lines) {
    for (const xs of [points.x, points.marks?.x]) {
      if (!xs || xs.length === 0) continue;
      from = Math.min(from, xs[0]!);
      to = Math.max(to, xs[xs.length - 1]!);
    }
  }
  return from <= to ? { from, to } : null;
}
