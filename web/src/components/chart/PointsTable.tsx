// The curve as numbers, for whoever reads those better.
import { useMemo } from 'react';
import { formatReal } from '@/lib/format';
import { useWords } from '@/lib/words';
import classes from './Chart.module.css';
import type { ChartLine, XKind, XRange } from './line';
import { xName, xText } from './speak';
import { tableOf } from './summary';

const mostRows = 500;
const mostLines = 20;

export function PointsTable(props: { title: string; unit: string | undefined; lines: readonly ChartLine[]; range: XRange; xKind: XKind; height: number }) {
  const { t, language } = useWords();
  const lines = props.lines.slice(0, mostLines);
  const table = useMemo(() => tableOf(props.lines.slice(0, mostLines), props.range, mostRows), [props.lines, props.range]);
  const label = t('chart.table_label', { title: props.title });
  return (
    <div className={classes.tableBox} style={{ height: props.height }} tabIndex={0} role="region" aria-label={label}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{xName(props.xKind, t)}</th>
            {lines.map((line) => (
              <th key={line.key} scope="col">
                <bdi>{line.label}</bdi>
                {props.unit && <span className={classes.dimmed}> {props.unit}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map(({ x, values }) => (
            <tr key={x}>
              <th scope="row">{props.xKind === 'step' ? formatReal(Number(x.toPrecision(12))) : xText(props.xKind, x, language, t)}</th>
              {values.map((value, i) => (
                <td key={lines[i]!.key}>{value === null ? '' : formatReal(value)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {table.left > 0 && <p className={classes.tableNote}>{t('chart.table_left', { n: table.left })}</p>}
      {props.lines.length > mostLines && <p className={classes.tableNote}>{t('chart.summary_more', { n: props.lines.length - mostLines })}</p>}
    </div>
  );
}
