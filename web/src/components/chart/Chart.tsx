// Chart shows lines over steps or time. It draws what it is given: whoever owns it asks the yard anew when `onZoom` tells of
// another range, and may keep several charts at one cursor with `sync`.
import { ActionIcon, useComputedColorScheme } from '@mantine/core';
import { IconChartLine, IconTable, IconZoomReset } from '@tabler/icons-react';
import { useCallback, useEffect, useId, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import 'uplot/dist/uPlot.min.css';
import { useWords } from '@/lib/words';
import classes from './Chart.module.css';
import { Legend } from './Legend';
import { wholeRange, type ChartLine, type ScaleKind, type XKind, type XRange } from './line';
import { link, shareCursor, type LinkedChart } from './link';
import type { Picture } from './plot';
import { PointsTable } from './PointsTable';
import { CursorStore, Readout, readingsNear } from './Readout';
import { extentOf, scaleFor, xScaleFor } from './scale';
import { valueText, xText } from './speak';
import { nextPoint, odditiesOf, summaryOf } from './summary';
import type { Frame } from './trace';
import { usePlot } from './usePlot';

export interface ChartProps {
  title: string;
  unit?: string; // of y, as "GiB" or "%"
  lines: readonly ChartLine[];
  x: XKind;
  scale?: ScaleKind; // of y; linear if absent
  range?: XRange | null; // what of x is shown; null: all
  onZoom?: (range: XRange | null) => void; // null: all again
  height?: number; // pixels of the plot, without its legend
  loading?: boolean; // nothing has come yet
  stale?: boolean; // what is shown is about to be replaced
  sync?: string; // charts with the same key share a cursor
  actions?: ReactNode; // at the right of the title
  legend?: boolean; // true if absent
}

export function Chart(props: ChartProps) {
  const { title, unit, lines, x: xKind, scale = 'linear', height = 220, onZoom, sync } = props;
  const { t, language } = useWords();
  const scheme = useComputedColorScheme('light');
  const [ownRange, setOwnRange] = useState<XRange | null>(null);
  const zoomed = props.range === undefined ? ownRange : props.range;
  const [hidden, setHidden] = useState<ReadonlySet<string>>(() => new Set());
  const [asTable, setAsTable] = useState(false);
  const shown = useMemo(() => (hidden.size === 0 ? lines : lines.filter((line) => !hidden.has(line.key))), [lines, hidden]);
  const frame = useMemo<Frame>(() => {
    const x = xScaleFor(zoomed ?? wholeRange(lines));
    return { x, y: scaleFor(scale, extentOf(shown, { from: x.from, to: x.to })) };
  }, [lines, shown, scale, zoomed]);
  const range = useMemo(() => ({ from: frame.x.from, to: frame.x.to }), [frame.x.from, frame.x.to]);
  const picture = useMemo<Picture>(() => ({ lines: shown, frame, xKind, scheme, language }), [shown, frame, xKind, scheme, language]);
  const urgent = [scheme, language, xKind, scale, zoomed?.from, zoomed?.to, [...hidden].join('\n')].join('|');

  const zoom = useCallback(
    (next: XRange | null) => {
      setOwnRange(next);
      onZoom?.(next);
    },
    [onZoom],
  );

  const host = useRef<HTMLDivElement>(null);
  const [cursor] = useState(() => new CursorStore());
  const linked = useRef<LinkedChart>({ follow: () => {} });
  const told = useRef(false); // the cursor moves because another chart's did
  const { plot, area } = usePlot(host, height, picture, urgent, {
    onCursor: (at) => {
      cursor.set(at);
      if (sync && !told.current) shareCursor(sync, linked.current, at?.x ?? null);
    },
    onSelect: zoom,
  });
  const point = useCallback((x: number | null) => plot.current?.point(x), [plot]);
  useEffect(() => {
    linked.current.follow = (x) => {
      told.current = true;
      point(x);
      told.current = false;
    };
    if (!sync) return;
    return link(sync, linked.current);
  }, [sync, point]);

  const toggle = useCallback((key: string) => setHidden((now) => toggled(now, key)), []);
  const keys = lines.map((line) => line.key).join('\n');
  const solo = useCallback((key: string) => setHidden((now) => soloed(now, key, keys.split('\n'))), [keys]);

  const [spoken, setSpoken] = useState('');
  const say = (x: number) => {
    const readings = readingsNear(shown, frame, x).slice(0, 5);
    setSpoken([xText(xKind, x, language, t), ...readings.map(({ line, value }) => `${line.label}: ${valueText(value, unit)}`)].join(', '));
  };
  const onKey = (event: KeyboardEvent) => {
    const at = cursor.get()?.x ?? null;
    const act = keyAct(event, shown, range, at);
    if (act === null) return;
    if (act === 'leave') {
      if (zoomed) zoom(null);
      else if (at !== null) point(null);
      else return; // Escape may mean something to whoever is around
    } else if (typeof act === 'number') {
      point(act);
      say(act);
    } else zoom(act);
    event.preventDefault();
  };

  const id = useId();
  const empty = shown.every(({ points }) => points.x.length === 0 && !points.marks?.x.length);
  const inSight = !empty && shown.some((line) => summaryOf(line, range).points > 0 || odditiesOf(line, range).nan > 0);
  return (
    <figure className={classes.chart} aria-labelledby={`${id}title`}>
      <figcaption className={classes.head}>
        <span id={`${id}title`} className={classes.title}>
          <bdi>{title}</bdi>
        </span>
        {unit && <span className={classes.unit}>{unit}</span>}
        {scale === 'log' && <FloorNote lines={shown} range={range} />}
        <span className={classes.tools}>
          <span className={classes.state}>{props.stale ? t('chart.updating') : ''}</span>
          {props.actions}
          {zoomed && (
            <ActionIcon size="sm" variant="subtle" color="gray" aria-label={t('chart.whole')} title={t('chart.whole')} onClick={() => zoom(null)}>
              <IconZoomReset size={16} stroke={1.6} />
            </ActionIcon>
          )}
          <ActionIcon
            size="sm"
            variant="subtle"
            color="gray"
            aria-label={asTable ? t('chart.as_curve') : t('chart.as_table')}
            title={asTable ? t('chart.as_curve') : t('chart.as_table')}
            onClick={() => setAsTable(!asTable)}
          >
            {asTable ? <IconChartLine size={16} stroke={1.6} /> : <IconTable size={16} stroke={1.6} />}
          </ActionIcon>
        </span>
      </figcaption>
      {asTable && <PointsTable title={title} unit={unit} lines={shown} range={range} xKind={xKind} height={height} />}
      <div
        className={classes.frame}
        data-hidden={asTable || undefined}
        data-stale={props.stale || undefined}
        tabIndex={asTable ? -1 : 0}
        role="group"
        aria-label={t('chart.plot_label', { title })}
        aria-describedby={`${id}summary`}
        onKeyDown={onKey}
        onBlur={() => point(null)}
        onDoubleClick={() => zoomed && zoom(null)}
      >
        <div ref={host} className={classes.host} style={{ height }} aria-hidden />
        {!asTable && inSight && <Readout cursor={cursor} lines={shown} frame={frame} xKind={xKind} unit={unit} area={area} />}
        {!inSight && (
          <div className={classes.nothing} role="status">
            {props.loading ? t('chart.loading') : empty ? t('chart.empty') : t('chart.empty_range')}
          </div>
        )}
      </div>
      {props.legend !== false && (
        <Legend title={title} unit={unit} lines={lines} hidden={hidden} range={zoomed} onToggle={toggle} onSolo={solo} />
      )}
      <div id={`${id}summary`} className={classes.unseen}>
        <TextSummary lines={shown} range={range} unit={unit} />
      </div>
      <div className={classes.unseen} aria-live="polite">
        {spoken}
      </div>
    </figure>
  );
}

function toggled(hidden: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(hidden);
  if (!next.delete(key)) next.add(key);
  return next;
}

/** All but one hidden; all shown again when that is how it is already. */
function soloed(hidden: ReadonlySet<string>, key: string, keys: string[]): ReadonlySet<string> {
  const others = keys.filter((other) => other !== key);
  const already = !hidden.has(key) && others.every((other) => hidden.has(other));
  return new Set(already ? [] : others);
}

/** What a key does: a number is where the cursor goes, a range what is shown. */
function keyAct(event: KeyboardEvent, lines: readonly ChartLine[], range: XRange, at: number | null): number | XRange | 'leave' | null {
  if (event.nativeEvent.isComposing || event.keyCode === 229 || event.ctrlKey || event.metaKey || event.altKey) return null;
  const step = (direction: 1 | -1) => {
    if (at === null) return nextPoint(lines, direction > 0 ? range.from - Number.EPSILON : range.to, direction, range) ?? (direction > 0 ? range.from : range.to);
    let x = at;
    for (let i = event.shiftKey ? 10 : 1; i > 0; i--) x = nextPoint(lines, x, direction, range) ?? x;
    return x;
  };
  const scaled = (factor: number): XRange => {
    const middle = at ?? (range.from + range.to) / 2;
    return { from: middle - (middle - range.from) * factor, to: middle + (range.to - middle) * factor };
  };
  switch (event.key) {
    case 'ArrowRight':
      return step(1);
    case 'ArrowLeft':
      return step(-1);
    case 'Home':
      return range.from;
    case 'End':
      return range.to;
    case '+':
    case '=':
      return scaled(0.5);
    case '-':
      return scaled(2);
    case 'Escape':
      return 'leave';
    default:
      return null;
  }
}

/** "3 values ≤ 0": what a log axis shows on its floor. */
function FloorNote({ lines, range }: { lines: readonly ChartLine[]; range: XRange }) {
  const { t } = useWords();
  const odd = lines.map((line) => odditiesOf(line, range));
  const n = odd.reduce((sum, { notAbove0 }) => sum + notAbove0, 0);
  if (n === 0) return null;
  const least = lines.some((line) => line.points.exact === false);
  return (
    <span className={classes.note} title={t('chart.not_above_zero_help')}>
      {least ? t('chart.not_above_zero_least', { n }) : t('chart.not_above_zero', { n })}
    </span>
  );
}

const mostSummed = 10;

function TextSummary({ lines, range, unit }: { lines: readonly ChartLine[]; range: XRange; unit: string | undefined }) {
  const { t } = useWords();
  return (
    <>
      {lines.slice(0, mostSummed).map((line) => {
        const { points, first, last, least, most } = summaryOf(line, range);
        const text = (value: number) => valueText(value, unit);
        return (
          <p key={line.key}>
            {first === null || last === null || least === null || most === null
              ? t('chart.summary_none', { name: line.label })
              : t('chart.summary_line', { name: line.label, points, first: text(first), last: text(last), least: text(least), most: text(most) })}
          </p>
        );
      })}
      {lines.length > mostSummed && <p>{t('chart.summary_more', { n: lines.length - mostSummed })}</p>}
    </>
  );
}
