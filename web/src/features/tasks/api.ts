import { infiniteQueryOptions, queryOptions, useMutation } from '@tanstack/react-query';
import { answer, ApiProblem, client, type Schemas } from '@/lib/api';
import { useLiveQuery } from '@/lib/useLive';

export type TaskSpec = Schemas['TaskSpec'];

export const runningQuery = queryOptions({
  queryKey: ['tasks', 'running'],
  queryFn: () => answer(client.GET('/api/v1/tasks', { params: { query: { state: 'running', limit: 1000 } } })),
});
/** Tasks that run, start or stop; live. */
export const useRunning = () => useLiveQuery('running', runningQuery);

/** One task with its attempts; live. `id` is a number. */
export const taskQuery = (id: number) =>
  queryOptions({
    queryKey: ['tasks', 'one', id],
    queryFn: () => answer(client.GET('/api/v1/tasks/{task}', { params: { path: { task: String(id) } } })),
    retry: (count, error) => !(error instanceof ApiProblem && error.status === 404) && count < 3,
  });
export const useTask = (id: number) => useLiveQuery(`task/${id}`, taskQuery(id));

type ListQuery = { state?: 'waiting' | 'held' | 'running' | 'ended' | 'succeeded' | 'failed' | 'cancelled' | 'timeout' | 'preempted' | 'lost'; tag?: string; limit?: number; after?: number; before?: number; since?: string };

const listTasks = (query: ListQuery) => answer(client.GET('/api/v1/tasks', { params: { query: query as never } }));

/** Pages of a list; `next` of one page ("after=12") is the cursor of the next. */
export const listQuery = (query: Omit<ListQuery, 'after' | 'before'>) =>
  infiniteQueryOptions({
    queryKey: ['tasks', 'list', query],
    queryFn: ({ pageParam }) => listTasks({ ...query, ...pageParam }),
    initialPageParam: {} as Pick<ListQuery, 'after' | 'before'>,
    getNextPageParam: (page) => {
      const [name, value] = page.next?.split('=') ?? [];
      return name === 'after' || name === 'before' ? { [name]: Number(value) } : undefined;
    },
  });

export type Verb = 'cancel' | 'hold' | 'release' | 'retry' | 'remove';
const paths = {
  cancel: '/api/v1/tasks/cancel',
  hold: '/api/v1/tasks/hold',
  release: '/api/v1/tasks/release',
  retry: '/api/v1/tasks/retry',
  remove: '/api/v1/tasks/remove',
} as const;

type ActBody = { tasks: number[]; priority?: number; first?: boolean; before?: number; after?: number };

/** One refusal among the answers refuses the whole: its sentence is thrown. */
async function settled(call: Promise<Schemas['ActAnswers']>) {
  const answers = await call;
  const refused = answers.items.find((item) => !item.ok);
  if (refused?.problem) throw new ApiProblem(refused.problem.status, refused.problem, refused.problem.detail);
  return answers;
}

export const act = (verb: Verb, tasks: number[]) => settled(answer(client.POST(paths[verb], { body: { tasks } })));
export const prioritise = (body: ActBody) => settled(answer(client.POST('/api/v1/tasks/priority', { body })));

/** A new priority, or a place: `first`, `before` or `after` another waiting task. */
export const usePrioritise = () => useMutation({ mutationFn: prioritise });

/** `key` makes a repeated click or a lost answer queue it once. */
export const submitTask = (spec: TaskSpec, key: string) =>
  answer(client.POST('/api/v1/tasks', { body: spec, headers: { 'Idempotency-Key': key } }));
export const previewTask = (spec: TaskSpec, signal?: AbortSignal) =>
  answer(client.POST('/api/v1/tasks/preview', { body: spec, ...(signal ? { signal } : {}) }));
