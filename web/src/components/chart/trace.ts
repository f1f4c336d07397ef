// The way of a pen along a curve. Lines join neighbours and end where a value is no number; a point with no neighbour to join
// becomes a dot; infinities are no part of the line but marks at the edge. Nothing here knows a canvas.
import { mark, type Curve } from '@/lib/points';
import { within, type ChartLine, type XRange } from './line';
import type { Scale } from './scale';

/** What is drawn on: canvas pixels, y downwards. */
export interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  dot(x: number, y: number): void;
}

export interface Area {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Frame {
  x: Scale;
  y: Scale;
}

const pixelX = (frame: Frame, area: Area, x: number) => area.left + frame.x.place(x) * area.width;

/** The y of a value. A place far outside is brought near: a canvas draws nothing right at 1e300 pixels. */
function pixelY(frame: Frame, area: Area, y: number): number {
  const place = Math.max(-50, Math.min(50, frame.y.place(y)));
  return area.top + (1 - place) * area.height;
}

const rangeOf = (frame: Frame): XRange => ({ from: frame.x.from, to: frame.x.to });

/** Draws a curve as far as it is in sight, and to the next point on either side of that. */
export function trace(curve: Curve, frame: Frame, area: Area, pen: Pen) {
  const [first, last] = within(curve.x, rangeOf(frame));
  const from = Math.max(0, first - 1);
  const to = Math.min(curve.x.length, last + 1);
  let open = false;
  for (let i = from; i < to; i++) {
    const value = curve.y[i]!;
    if (!Number.isFinite(value)) {
      open = false;
      continue;
    }
    const x = pixelX(frame, area, curve.x[i]!);
    const y = pixelY(frame, area, value);
    if (open) pen.lineTo(x, y);
    else if (i + 1 < curve.x.length && Number.isFinite(curve.y[i + 1]!)) {
      pen.moveTo(x, y);
      open = true;
    } else pen.dot(x, y);
  }
}

interface MarkPlace {
  x: number;
  kind: 'nan' | 'above' | 'below';
}

/** Where the marks of a line stand: NaN on the x axis, infinities at the upper and lower edge; one of a kind for each pixel. */
export function markPlaces(line: ChartLine, frame: Frame, area: Area): MarkPlace[] {
  const found: MarkPlace[] = [];
  const last = { nan: -Infinity, above: -Infinity, below: -Infinity };
  const put = (x: number, kind: MarkPlace['kind']) => {
    const place = Math.round(pixelX(frame, area, x));
    if (place <= last[kind]) return;
    last[kind] = place;
    found.push({ x: place, kind });
  };
  const { x, y, marks } = line.points;
  if (marks) {
    const [from, to] = within(marks.x, rangeOf(frame));
    for (let i = from; i < to; i++)
      put(marks.x[i]!, marks.kind[i] === mark.nan ? 'nan' : marks.kind[i] === mark.plusInfinity ? 'above' : 'below');
    return found;
  }
  const [from, to] = within(x, rangeOf(frame));
  for (let i = from; i < to; i++)
    if (!Number.isFinite(y[i])) put(x[i]!, Number.isNaN(y[i]) ? 'nan' : y[i]! > 0 ? 'above' : 'below');
  return found;
}
