// A small curve without axes, for a load that moves: the newest value at the right edge.
import { memo } from 'react';
import classes from './Sparkline.module.css';

export interface SparklineProps {
  values: ArrayLike<number | null>; // null, NaN: not known then
  max?: number; // of the axis, from 0; the largest value if absent
  label: string; // said in place of the picture
  width?: number;
  height?: number;
}

export const Sparkline = memo(function Sparkline({ values, max, label, width = 96, height = 22 }: SparklineProps) {
  const { line, area } = sparkPaths(values, max, width, height);
  return (
    <svg className={classes.spark} width={width} height={height} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <path className={classes.area} d={area} />
      <path className={classes.line} d={line} />
    </svg>
  );
});

/** The line and the area under it; broken where a value is not known. */
export function sparkPaths(values: ArrayLike<number | null>, max: number | undefined, width: number, height: number) {
  const known = Array.from(values, (value) => (value !== null && Number.isFinite(value) ? value : null));
  const most = max && max > 0 ? max : Math.max(1e-9, ...known.map((value) => value ?? 0));
  const step = (width - 2) / Math.max(1, values.length - 1);
  const x = (i: number) => Number((1 + i * step).toFixed(1));
  const y = (value: number) => Number((height - 1.5 - Math.max(0, Math.min(1, value / most)) * (height - 3)).toFixed(1));
  let [line, area] = ['', ''];
  for (let i = 0; i < known.length; i++) {
    if (known[i] === null) continue;
    const from = i;
    while (i + 1 < known.length && known[i + 1] !== null) i++;
    const points = known.slice(from, i + 1).map((value, at) => `${x(from + at)},${y(value!)}`);
    if (points.length === 1) points.push(points[0]!); // a dot, by the round cap
    line += `M${points.join('L')}`;
    area += `M${x(from)},${height}L${points.join('L')}L${x(i)},${height}Z`;
  }
  return { line, area };
}
