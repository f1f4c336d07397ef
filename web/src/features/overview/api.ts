import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { answer, client } from '@/lib/api';

const kDay = 86_400_000;
const kHour = 3_600_000;
const kMost = 200;

/** Ended in the last 24 hours, newest first by number; the beginning is kept on the hour so that it is one question. */
export const recentQuery = (now: number) => {
  const since = new Date(Math.floor((now - kDay) / kHour) * kHour).toISOString();
  return queryOptions({
    queryKey: ['tasks', 'recent', since],
    queryFn: () => answer(client.GET('/api/v1/tasks', { params: { query: { state: 'ended', since, limit: kMost } } })),
    placeholderData: keepPreviousData, // at the full hour: it is asked otherwise, and shows the same
  });
};

/** Whether anything was ever queued here: one ended task is enough to know. */
export const everQuery = queryOptions({
  queryKey: ['tasks', 'ever'],
  queryFn: () => answer(client.GET('/api/v1/tasks', { params: { query: { state: 'all', limit: 1 } } })),
  select: (list: { items: unknown[] }) => list.items.length > 0,
});
