// A list of tasks in pages, kept true while it is looked at: read again at most once a second when the yard says that it changed.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import { answer, client, type Task } from '@/lib/api';
import { extended, isStale, refreshed, reordered, rowsOf, type Cursor, type Pages, type View } from './pages';

export interface TasksAsked {
  /** `bad`: what should be looked at of those that ended. */
  state: 'all' | 'open' | 'waiting' | 'held' | 'running' | 'ended' | 'succeeded' | 'failed' | 'cancelled' | 'timeout' | 'preempted' | 'lost' | 'bad';
  tag?: string;
}

const kPage = 200;
const kPause = 1000;

export function useTaskPages(asked: TasksAsked) {
  const queries = useQueryClient();
  const { state, tag } = asked;
  const key = useMemo(() => ['tasks', 'pages', state, tag ?? ''], [state, tag]);
  const fetchPage = useCallback(
    (cursor: Cursor) =>
      answer(client.GET('/api/v1/tasks', { params: { query: { state, ...(tag ? { tag } : {}), limit: kPage, ...cursor } } })),
    [state, tag],
  );
  const view = useRef<View>({ first: 0, last: 0 });
  const edits = useRef(0);
  // One call at a time: a page that comes late must not undo what a later one brought.
  const lane = useRef<Promise<unknown>>(Promise.resolve());
  const inLane = useCallback(<T,>(job: () => Promise<T>): Promise<T> => {
    const done = lane.current.then(job, job);
    lane.current = done.catch(() => null);
    return done;
  }, []);

  const found = useQuery<Pages>({
    queryKey: key,
    queryFn: () =>
      inLane(async () => {
        const before = edits.current;
        const list = await refreshed(queries.getQueryData<Pages>(key), view.current, fetchPage);
        const now = queries.getQueryData<Pages>(key);
        // Somebody moved a row while this was on its way: what they see stays until the next reading.
        return before !== edits.current && now ? now : list;
      }),
    structuralSharing: false,
  });

  const paused = useRef(false);
  const waits = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const last = useRef(0);
  const again = useCallback(() => {
    if (paused.current || waits.current !== undefined) return;
    const timer = setTimeout(
      () => {
        // What is on its way may have been read before the change: it is waited for, not thrown away, and then asked anew.
        void lane.current.then(() => {
          if (waits.current !== timer) return;
          waits.current = undefined;
          last.current = Date.now();
          if (!paused.current) void queries.refetchQueries({ queryKey: key, exact: true });
        });
      },
      Math.max(0, last.current + kPause - Date.now()),
    );
    waits.current = timer;
  }, [queries, key]);
  useEffect(() => {
    last.current = 0;
    return () => {
      clearTimeout(waits.current);
      waits.current = undefined;
    };
  }, [key]);

  const loading = useRef(false);
  const more = useCallback(async () => {
    const list = queries.getQueryData<Pages>(key);
    if (loading.current || !list?.next) return;
    loading.current = true;
    try {
      await inLane(async () => {
        const now = queries.getQueryData<Pages>(key);
        if (!now) return;
        const before = edits.current;
        const longer = await extended(now, fetchPage);
        if (before === edits.current) queries.setQueryData<Pages>(key, longer);
      });
    } catch {
      // Scrolling on asks again; the dot above says that the yard does not answer.
    } finally {
      loading.current = false;
    }
  }, [queries, key, inLane, fetchPage]);

  /** Tells which rows are seen: their pages are kept true, and the next page is read in time. */
  const see = useCallback(
    (seen: View) => {
      view.current = seen;
      const list = queries.getQueryData<Pages>(key);
      if (!list) return;
      if (isStale(list, seen)) again();
      if (list.next && seen.last > rowsOf(list).length - 60) void more();
    },
    [queries, key, again, more],
  );

  /** Shows rows in another order at once; the yard's answer replaces it. */
  const reorder = useCallback(
    (change: (rows: Task[]) => Task[]) => {
      edits.current++;
      queries.setQueryData<Pages>(key, (list) => list && reordered(list, change(rowsOf(list))));
    },
    [queries, key],
  );
  /** While true nothing is read: what is shown is ahead of the yard. */
  const pause = useCallback(
    (on: boolean) => {
      paused.current = on;
      if (!on) again();
    },
    [again],
  );

  const rows = useMemo(() => rowsOf(found.data), [found.data]);
  return { rows, complete: found.data?.next === null, loaded: found.data !== undefined, error: found.error, refetch: found.refetch, again, more, see, reorder, pause };
}
