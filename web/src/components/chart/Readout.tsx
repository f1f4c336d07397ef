// What the lines have at the cursor. It alone is drawn anew when the cursor moves.
import { useSyncExternalStore } from 'react';
import { useWords } from '@/lib/words';
import classes from './Chart.module.css';
import type { ChartLine, XKind } from './line';
import { valueText, xText } from './speak';
import { readingsAt, type Reading } from './summary';
import { Swatch } from './Swatch';
import type { Frame } from './trace';

interface CursorAt {
  x: number;
  left: number; // pixels from the left edge of the lines
}

/** Where the cursor of one chart is. */
export class CursorStore {
  private at: CursorAt | null = null;
  private readonly heard = new Set<() => void>();

  readonly get = () => this.at;
  readonly subscribe = (hear: () => void) => {
    this.heard.add(hear);
    return () => void this.heard.delete(hear);
  };
  set(at: CursorAt | null) {
    if (at === this.at || (at && this.at && at.x === this.at.x && at.left === this.at.left)) return;
    this.at = at;
    for (const hear of this.heard) hear();
  }
}

const most = 12;

/** The readings near the cursor: a twentieth of the width is near enough. */
export const readingsNear = (lines: readonly ChartLine[], frame: Frame, x: number): Reading[] =>
  readingsAt(lines, x, (frame.x.to - frame.x.from) * 0.05);

interface ReadoutProps {
  cursor: CursorStore;
  lines: readonly ChartLine[];
  frame: Frame;
  xKind: XKind;
  unit: string | undefined;
  area: () => { left: number; top: number; width: number; height: number } | null;
}

export function Readout({ cursor, lines, frame, xKind, unit, area }: ReadoutProps) {
  const { t, language } = useWords();
  const at = useSyncExternalStore(cursor.subscribe, cursor.get);
  const place = area();
  if (!at || !place) return null;
  const readings = readingsNear(lines, frame, at.x);
  if (readings.length === 0) return null;
  const { x } = readings.reduce((best, reading) => (Math.abs(reading.x - at.x) < Math.abs(best.x - at.x) ? reading : best));
  const right = at.left > place.width / 2;
  const offset = right ? place.width - at.left + 12 : at.left + 12;
  return (
    <>
      {readings.slice(0, most).map((reading) => (
        <Dot key={reading.line.key} reading={reading} frame={frame} area={place} />
      ))}
      <div
        className={classes.readout}
        style={{
          top: place.top,
          maxWidth: Math.max(150, right ? place.left + at.left - 12 : place.width - at.left),
          ...(right ? { right: `calc(100% - ${place.left + place.width}px + ${offset}px)` } : { left: place.left + offset }),
        }}
        aria-hidden
      >
        <div className={classes.readoutX}>{xText(xKind, x, language, t)}</div>
        {readings.slice(0, most).map(({ line, value, smooth }) => (
          <div key={line.key} className={classes.readoutRow}>
            <Swatch line={line} />
            <bdi className={classes.name}>{line.label}</bdi>
            <span className={classes.value}>{valueText(value, unit)}</span>
            {smooth !== null && <span className={classes.dimmed}>{t('chart.smoothed', { value: valueText(smooth, undefined) })}</span>}
          </div>
        ))}
        {readings.length > most && <div className={classes.dimmed}>{t('chart.more_lines', { n: readings.length - most })}</div>}
      </div>
    </>
  );
}

/** A ring around the point that is read. */
function Dot({ reading, frame, area }: { reading: Reading; frame: Frame; area: { left: number; top: number; width: number; height: number } }) {
  const value = reading.smooth ?? reading.value;
  const [x, y] = [frame.x.place(reading.x), frame.y.place(value)];
  if (!Number.isFinite(value) || !(x >= 0 && x <= 1 && y >= 0 && y <= 1)) return null;
  return (
    <span
      className={classes.dot}
      style={{ left: area.left + x * area.width, top: area.top + (1 - y) * area.height, borderColor: reading.line.look.color }}
      aria-hidden
    />
  );
}
