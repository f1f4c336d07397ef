// Names of the lines, what cannot be seen in a curve (NaN, infinities), and what is shown.
import { memo, type KeyboardEvent, type MouseEvent } from 'react';
import { useWords } from '@/lib/words';
import classes from './Chart.module.css';
import type { ChartLine, XRange } from './line';
import { valueText } from './speak';
import { lastValue, odditiesOf } from './summary';
import { Swatch } from './Swatch';

const most = 60; // names of more lines cost more than the lines

interface LegendProps {
  title: string;
  unit: string | undefined;
  lines: readonly ChartLine[];
  hidden: ReadonlySet<string>;
  range: XRange | null;
  onToggle: (key: string) => void;
  onSolo: (key: string) => void;
}

export const Legend = memo(function Legend(props: LegendProps) {
  const { t } = useWords();
  if (props.lines.length === 0) return null;
  return (
    <ul className={classes.legend} aria-label={t('chart.legend', { title: props.title })}>
      {props.lines.slice(0, most).map((line) => (
        <Entry key={line.key} line={line} {...props} />
      ))}
      {props.lines.length > most && <li className={classes.more}>{t('chart.more_lines', { n: props.lines.length - most })}</li>}
    </ul>
  );
});

function Entry({ line, hidden, range, unit, onToggle, onSolo }: LegendProps & { line: ChartLine }) {
  const { t } = useWords();
  const odd = odditiesOf(line, range);
  const last = lastValue(line);
  const click = (event: MouseEvent) => (event.shiftKey || event.altKey ? onSolo : onToggle)(line.key);
  const key = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    if (event.key.toLowerCase() !== 's' || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    onSolo(line.key);
  };
  return (
    <li>
      <button
        type="button"
        className={classes.entry}
        aria-pressed={!hidden.has(line.key)}
        title={`${line.label}\n${t('chart.legend_help')}`}
        onClick={click}
        onKeyDown={key}
      >
        <Swatch line={line} />
        <bdi className={classes.name}>{line.label}</bdi>
        {last !== null && <span className={classes.value}>{valueText(last, unit)}</span>}
        {odd.nan > 0 && (
          <span className={classes.odd}>
            {odd.atLeast ? t('chart.values_odd_nan_least', { n: odd.nan }) : t('chart.values_odd_nan', { n: odd.nan })}
          </span>
        )}
        {odd.infinite > 0 && (
          <span className={classes.odd}>
            {odd.atLeast ? t('chart.values_odd_infinite_least', { n: odd.infinite }) : t('chart.values_odd_infinite', { n: odd.infinite })}
          </span>
        )}
      </button>
    </li>
  );
}
