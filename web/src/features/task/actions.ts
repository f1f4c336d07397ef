// What can be done with a task as it is now, and when a thing that was asked has been done.
import type { Task, TaskDetail } from '@/lib/api';

export type Act = 'cancel' | 'kill' | 'hold' | 'release' | 'retry' | 'first' | 'priority' | 'clone' | 'remove';

type Now = Pick<Task, 'state' | 'held' | 'outcome'>;

/** The acts that make sense now, the most likely first. */
export function actsOf(task: Now): Act[] {
  switch (task.state) {
    case 'waiting':
      return task.held ? ['release', 'clone', 'cancel'] : ['first', 'hold', 'clone', 'cancel'];
    case 'preparing':
    case 'starting':
    case 'running':
      return ['clone', 'cancel'];
    case 'stopping':
      return ['clone', 'kill'];
    case 'ended':
      return task.outcome?.kind === 'succeeded' ? ['clone', 'remove'] : ['retry', 'clone', 'remove'];
  }
}

/** An act that was asked for: the buttons stay locked until the task shows that it is done, or for kLock. */
export interface Pending {
  act: Act;
  at: number; // ms
  before: { priority: number; reason: string };
}
export const kLock = 30_000;

export const pendingOf = (act: Act, task: Pick<Task, 'priority' | 'reason'>, now: number): Pending => ({
  act,
  at: now,
  before: { priority: task.priority, reason: task.reason?.text ?? '' },
});

/** Whether the task shows that the act is done. */
export function isDone({ act, before }: Pending, task: Pick<TaskDetail, 'state' | 'held' | 'priority' | 'reason'>): boolean {
  switch (act) {
    case 'cancel':
      return task.state === 'stopping' || task.state === 'ended';
    case 'kill':
      return task.state === 'ended';
    case 'hold':
      return task.held || task.state !== 'waiting';
    case 'release':
      return !task.held;
    case 'retry':
      return task.state !== 'ended';
    case 'priority':
      return task.priority !== before.priority || task.state !== 'waiting';
    case 'first':
      // Its place is nowhere but in the reason, and may be what it was: a moment is enough.
      return true;
    case 'clone':
    case 'remove':
      return false; // the page is left
  }
}

/** What is locked now; null when nothing is. */
export function lockOf(pending: Pending | null, task: Parameters<typeof isDone>[1], now: number): Act | null {
  if (!pending || now - pending.at >= kLock || isDone(pending, task)) return null;
  return pending.act;
}
