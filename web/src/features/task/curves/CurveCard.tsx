// One chart: asks for its points only while it is in view, and keeps the old curve until the new one is there.
import { useComputedColorScheme } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { memo, useCallback, useMemo, useRef, useState } from 'react';
import { Chart, type XRange } from '@/components/chart';
import { lineLook } from '@/lib/colors';
import { detailOf } from '@/lib/api';
import type { Points } from '@/lib/points';
import { useWords } from '@/lib/words';
import { pointsQuery, stateOf, type PointsWish, type Series } from '../api';
import { linesOf } from './lines';
import { labelOf, type Group } from './tags';
import { useInView, useWidthStep } from './useInView';
import type { View } from './view';
import classes from './Curves.module.css';

const kHeight = 200;

interface CurveCardProps {
  id: number;
  group: Group;
  series: Series[]; // of the group's tags, in their order
  slots: ReadonlyMap<string, number>;
  view: Pick<View, 'x' | 'scale' | 'smooth' | 'older' | 'from' | 'to'>;
  onZoom: (range: XRange | null) => void;
}

const sameSeries = (a: Series[], b: Series[]) => a.length === b.length && a.every((series, at) => series === b[at]);
const sameView = (a: CurveCardProps['view'], b: CurveCardProps['view']) => a.x === b.x && a.scale === b.scale && a.smooth === b.smooth && a.older === b.older && a.from === b.from && a.to === b.to;

export const CurveCard = memo(
  function CurveCard(props: CurveCardProps) {
    const host = useRef<HTMLDivElement>(null);
    const inView = useInView(host);
    const width = useWidthStep(host);
    return (
      <div ref={host} className={classes.card}>
        {inView && width !== null ? <Curve {...props} width={width} /> : <div className={classes.rest}>{props.group.title}</div>}
      </div>
    );
  },
  (a, b) => a.id === b.id && a.group === b.group && a.onZoom === b.onZoom && a.slots === b.slots && sameSeries(a.series, b.series) && sameView(a.view, b.view),
);

function Curve(props: CurveCardProps & { width: number }) {
  const { t } = useWords();
  const { id, group, series, slots, view, width } = props;
  const scheme = useComputedColorScheme('light');
  const zoomed = view.from !== null && view.to !== null;
  const answers = useQueries({
    queries: series.map((one) => {
      const wish: PointsWish = { id, tag: one.tag, x: view.x, from: view.from, to: view.to, px: width, smooth: view.smooth };
      return pointsQuery(wish, stateOf(one));
    }),
  });
  // Each state of a metric is another question: until it is answered the last answer stays. Not over another kind of x,
  // where its points would stand at wrong places.
  const [kept] = useState(() => new Map<string, { x: string; points: Points }>());
  const points = series.map((one, at) => {
    const now = answers[at]!.data;
    if (now) kept.set(one.tag, { x: view.x, points: now });
    const last = kept.get(one.tag);
    return last?.x === view.x ? last.points : undefined;
  });
  // The curves on the screen answer another question than the one that is asked; mere growth is no reason to dim them.
  const asked = JSON.stringify([view.from, view.to, view.smooth]);
  const shown = useRef(asked);
  const waits = answers.some((answer) => answer.isPending);
  if (!waits) shown.current = asked;
  const stale = waits && shown.current !== asked;

  const runLabel = useCallback((label: string, number: number) => t('task.curve_run', { label, number }), [t]);
  const lines = useMemo(
    () =>
      linesOf(
        series.map((one, at) => ({ series: one, label: labelOf(one.tag, group), look: lineLook(slots.get(one.tag) ?? 0, scheme), points: points[at] })),
        view.older,
        zoomed,
        runLabel,
      ),
    // `points` is a new list each time, of the same answers.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [series, group, slots, scheme, view.older, zoomed, runLabel, ...points],
  );
  const range = useMemo(() => (zoomed ? { from: view.from!, to: view.to! } : null), [zoomed, view.from, view.to]);
  const failed = answers.find((answer, at) => answer.error && !points[at]);
  if (failed) return <div className={classes.failed}>{`${group.title}: ${detailOf(failed.error, t('task.points_failed'))}`}</div>;
  return <Chart title={group.title} lines={lines} x={view.x} scale={view.scale} range={range} onZoom={props.onZoom} height={kHeight} loading={waits} stale={stale} sync={`task/${id}/${view.x}`} />;
}
