// What can be done with a task as it is now.
import type { Task } from '@/lib/api';

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
