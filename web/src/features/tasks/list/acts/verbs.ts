// Which verb makes sense for which task, and asking the yard for many at once.
import { answer, client, type Task } from '@/lib/api';
import type { Verb } from '@/features/tasks';

export const verbs: readonly Verb[] = ['cancel', 'hold', 'release', 'retry', 'remove'];

export function applies(verb: Verb, task: Pick<Task, 'state' | 'held'>): boolean {
  switch (verb) {
    case 'cancel':
      return task.state !== 'ended' && task.state !== 'stopping';
    case 'hold':
      return task.state === 'waiting' && !task.held;
    case 'release':
      return task.state === 'waiting' && task.held;
    case 'retry':
    case 'remove':
      return task.state === 'ended';
  }
}

/** These cannot be taken back, so they are asked about even for one task. */
export const isFinal = (verb: Verb) => verb === 'cancel' || verb === 'remove';

const paths = {
  cancel: '/api/v1/tasks/cancel',
  hold: '/api/v1/tasks/hold',
  release: '/api/v1/tasks/release',
  retry: '/api/v1/tasks/retry',
  remove: '/api/v1/tasks/remove',
} as const;

export interface Refused {
  id: number;
  detail: string;
}

/** Asks for all in one call and tells which of them the yard refused, with its sentences. */
export async function actOnEach(verb: Verb, tasks: readonly number[]): Promise<Refused[]> {
  const { items } = await answer(client.POST(paths[verb], { body: { tasks: [...tasks] } }));
  return items.filter((item) => !item.ok).map((item) => ({ id: Number(item.id), detail: item.problem?.detail ?? '' }));
}
