// From what the yard answers to the lines of a chart.
import type { ChartLine } from '@/components/chart';
import type { LineLook } from '@/lib/colors';
import type { Points } from '@/lib/points';
import type { Series } from '../api';

interface TagLines {
  series: Series;
  label: string;
  look: LineLook;
  points: Points | undefined;
}

/** Newest runs last, so that they lie on top; older ones faint, or not at all. */
export function linesOf(tags: readonly TagLines[], older: boolean, zoomed: boolean, runLabel: (label: string, run: number) => string): ChartLine[] {
  const faint: ChartLine[] = [];
  const strong: ChartLine[] = [];
  for (const { series, label, look, points } of tags) {
    if (!points) continue;
    const parts = points.parts.filter((part) => part.x.length > 0 || part.marks.x.length > 0 || points.parts.length === 1);
    const newest = series.parts.at(-1)?.attempt ?? parts.at(-1)?.attempt;
    for (const part of parts) {
      const last = part.attempt === newest;
      if (!last && !older) continue;
      const counted = series.parts.find((one) => one.attempt === part.attempt);
      const line: ChartLine = {
        key: `${series.tag}\n${part.attempt}`,
        label: last ? label : runLabel(label, part.attempt),
        look,
        points: part,
        faint: !last,
      };
      // Of all of it the yard has counted what is not finite; of a piece only what is here is known.
      if (counted && !zoomed) line.counts = { nan: counted.nan, infinite: counted.inf };
      (last ? strong : faint).push(line);
    }
  }
  return [...strong, ...faint];
}
