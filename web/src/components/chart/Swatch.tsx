import type { ChartLine } from './line';

/** A piece of a line as the chart draws it: colour, dashes, paleness. */
export function Swatch({ line }: { line: ChartLine }) {
  const dash = line.faint ? [3, 3] : line.look.dash;
  return (
    <svg width="18" height="8" viewBox="0 0 18 8" aria-hidden focusable="false">
      <line
        x1="1"
        x2="17"
        y1="4"
        y2="4"
        stroke={line.look.color}
        strokeWidth={2.2}
        strokeDasharray={dash.length ? dash.join(' ') : undefined}
        strokeLinecap={dash.length ? 'butt' : 'round'}
        opacity={line.faint ? 0.6 : 1}
      />
    </svg>
  );
}
