import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { answer, baseUrl, client, getBytes, type Schemas } from '@/lib/api';
import { decodePoints, type Points } from '@/lib/points';
import { useTopic } from '@/lib/useLive';

export type Series = Schemas['Series'];
export type Lines = Schemas['Lines'];
export type Matches = Schemas['Matches'];
export type XKind = 'step' | 'time' | 'elapsed';

const of = (id: number) => ({ path: { task: String(id) } });

/** Whose log: a run of the task and, where it has them, one of its ranks. */
export interface LogOf {
  id: number;
  attempt: number;
  rank: number | null;
}
const whose = ({ attempt, rank }: LogOf) => ({ attempt, ...(rank === null ? {} : { rank }) });

export const getLines = (log: LogOf, from: number, count: number) =>
  answer(client.GET('/api/v1/tasks/{task}/lines', { params: { ...of(log.id), query: { ...whose(log), from, count } } }));

const flag = (on: boolean) => (on ? 'true' : 'false');
export const searchLog = (log: LogOf, q: string, { regex, matchCase }: { regex: boolean; matchCase: boolean }, from: number, limit: number) =>
  answer(client.GET('/api/v1/tasks/{task}/search', { params: { ...of(log.id), query: { ...whose(log), q, regex: flag(regex), case: flag(matchCase), from, limit } } }));

/** The last lines, of the rank that failed where one did; asked anew for each run. */
export const tailQuery = (id: number, attempt: number) =>
  queryOptions({
    queryKey: ['tasks', 'tail', id, attempt],
    queryFn: () => answer(client.GET('/api/v1/tasks/{task}/tail', { params: { ...of(id), query: { attempt } } })),
    staleTime: Infinity,
  });

const seriesQuery = (id: number) =>
  queryOptions({
    queryKey: ['tasks', 'series', id],
    queryFn: () => answer(client.GET('/api/v1/tasks/{task}/series', { params: of(id) })),
  });

const kPointsPause = 1000; // new points are asked for at most that often

/** The metrics of a task, asked for again when it has new points. */
export function useSeries(id: number) {
  const queries = useQueryClient();
  const told = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const asked = useRef(0);
  const ask = useCallback(() => {
    asked.current = Date.now();
    timer.current = undefined;
    void queries.invalidateQueries({ queryKey: seriesQuery(id).queryKey }, { cancelRefetch: false });
  }, [queries, id]);
  const askSoon = useCallback(() => {
    timer.current ??= setTimeout(ask, Math.max(0, asked.current + kPointsPause - Date.now()));
  }, [ask]);
  useEffect(() => () => clearTimeout(timer.current), []);
  useTopic(
    `series/${id}`,
    (value) => {
      const version = Number((value as { version?: number } | null)?.version ?? 0);
      told.current = version;
      const known = queries.getQueryData(seriesQuery(id).queryKey);
      if (known && version > known.version) askSoon();
    },
    askSoon,
  );
  const series = useQuery(seriesQuery(id));
  const known = series.data?.version;
  useEffect(() => {
    // It may have grown between the question and the answer.
    if (known !== undefined && known < told.current) askSoon();
  }, [known, askSoon]);
  return series;
}

export interface PointsWish {
  id: number;
  tag: string;
  x: XKind;
  from: number | null;
  to: number | null;
  px: number;
  smooth: number;
}

/** A piece of one metric. `state` tells one state of the metric from the next, so that it is asked for again when it grew. */
export const pointsQuery = (wish: PointsWish, state: string) =>
  queryOptions({
    queryKey: ['tasks', 'points', wish, state],
    queryFn: async ({ signal }): Promise<Points> => {
      const { id, tag, x, from, to, px, smooth } = wish;
      const bytes = await getBytes(`tasks/${id}/points`, { tag, x, from: from ?? undefined, to: to ?? undefined, px, smooth: smooth || undefined }, signal);
      const points = decodePoints(bytes);
      if ('fault' in points) throw new Error(points.fault);
      return points;
    },
    staleTime: Infinity,
    gcTime: 5_000,
    structuralSharing: false, // arrays of numbers: comparing them is dearer than drawing them
  });

/** What of a metric says that its points are others than before. */
export const stateOf = (series: Series) => series.parts.map((part) => `${part.attempt}:${part.points}:${part.last_step}:${String(part.last)}:${part.nan}:${part.inf}`).join(' ');

export const filesQuery = (id: number) =>
  queryOptions({
    queryKey: ['tasks', 'files', id],
    queryFn: () => answer(client.GET('/api/v1/tasks/{task}/files', { params: of(id) })),
  });

/** Where a file of the task can be downloaded. */
export function fileUrl(id: number, path: string): string {
  const url = new URL(`api/v1/tasks/${id}/file`, baseUrl());
  url.searchParams.set('path', path);
  return url.href;
}

export const logPath = ({ attempt, rank }: Omit<LogOf, 'id'>) => `attempts/${attempt}/log${rank === null ? '' : `.${rank}`}`;
