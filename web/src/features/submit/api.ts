import { queryOptions } from '@tanstack/react-query';
import { answer, ApiProblem, client } from '@/lib/api';
import { previewTask, type TaskSpec } from '@/features/tasks';
import type { SpecWish } from './draft';

/** The newest task with what was asked for it; null while there is none. */
export const newestQuery = queryOptions({
  queryKey: ['tasks', 'newest'],
  queryFn: async () => {
    // Asked first, because a browser writes each 404 into its console, and an empty yard is nothing wrong.
    const any = await answer(client.GET('/api/v1/tasks', { params: { query: { state: 'all', limit: 1 } } }));
    if (any.items.length === 0) return null;
    return answer(client.GET('/api/v1/tasks/{task}', { params: { path: { task: '@last' } } })).catch((error: unknown) => {
      if (error instanceof ApiProblem && error.status === 404) return null; // removed meanwhile
      throw error;
    });
  },
  staleTime: 0,
});

/** What a submit of this would say. A refusal is an answer too, and is not asked for again. */
export const previewQuery = (spec: SpecWish | null) =>
  queryOptions({
    queryKey: ['tasks', 'preview', spec],
    enabled: spec !== null,
    queryFn: ({ signal }) => previewTask(spec as TaskSpec, signal),
    retry: false,
    staleTime: 5_000,
    gcTime: 10_000,
    refetchInterval: 10_000, // the queue moves: what starts now may wait a moment later
  });
