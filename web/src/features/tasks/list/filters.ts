// What the list shows, as the address says it: /tasks?state=failed&tag=nightly&name=lora.
import type { Task } from '@/lib/api';
import { standingOf } from '@/components/StateBadge';
import type { TasksAsked } from './useTaskPages';

export interface Filters {
  state: TasksAsked['state'];
  tag: string;
  name: string;
}

export const states = ['all', 'running', 'waiting', 'held', 'ended', 'bad', 'succeeded', 'failed', 'cancelled', 'timeout', 'preempted', 'lost'] as const;

export function readFilters(query: URLSearchParams): Filters {
  const state = query.get('state') as Filters['state'] | null;
  return { state: state && (states as readonly string[]).includes(state) ? state : 'all', tag: query.get('tag') ?? '', name: query.get('name') ?? '' };
}

/** The address's query with some of it changed; what is as usual does not stand there. */
export function writeFilters(query: URLSearchParams, change: Partial<Filters>): URLSearchParams {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(change))
    if (!value || (name === 'state' && value === 'all')) next.delete(name);
    else next.set(name, value);
  return next;
}

/** Whether a task, as it is now, belongs to the state that is asked for: running ones may have ended since they were listed. */
export function hasState(task: Task, state: Filters['state']): boolean {
  if (state === 'all') return true;
  if (state === 'ended' || state === 'open') return (task.state === 'ended') === (state === 'ended');
  if (state === 'running') return task.state === 'running' || task.state === 'starting' || task.state === 'stopping';
  if (state === 'waiting') return task.state === 'waiting' || task.state === 'preparing';
  const standing = standingOf(task);
  if (state === 'bad') return standing === 'failed' || standing === 'timeout' || standing === 'lost';
  return standing === state;
}

/** Rows whose name, number or tag holds each word of the text, in any case. */
export function named(rows: readonly Task[], text: string): readonly Task[] {
  const words = text.trim().toLocaleLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((task) => {
    const name = `${task.name} #${task.id}`.toLocaleLowerCase();
    return words.every((word) => name.includes(word));
  });
}

/** Rows with what the live stream says of those that run. */
export function withLive(rows: readonly Task[], running: readonly Task[] | undefined): readonly Task[] {
  if (!running || running.length === 0) return rows;
  const live = new Map(running.map((task) => [task.id, task]));
  return rows.map((task) => (task.state === 'ended' ? task : (live.get(task.id) ?? task)));
}
