// One word for how a task is, with a shape beside the colour for eyes that see no colour.
import { useWords } from '@/lib/words';
import type { Task } from '@/lib/api';
import classes from './StateBadge.module.css';

type Standing = Pick<Task, 'state' | 'held' | 'frozen'> & { outcome: { kind: string } | null };

/** What a task is called now: its outcome when it has ended, "held" and "frozen" where those say more than its state. */
export function standingOf(task: Standing) {
  if (task.state === 'ended') return (task.outcome?.kind ?? 'lost') as 'succeeded' | 'failed' | 'cancelled' | 'timeout' | 'preempted' | 'lost';
  if (task.state === 'waiting' && task.held) return 'held';
  if (task.state === 'running' && task.frozen) return 'frozen';
  return task.state;
}

const marks: Record<string, string> = { succeeded: '✓', failed: '✕', lost: '✕', timeout: '✕', cancelled: '–', preempted: '↺', running: '●', frozen: '❄', starting: '◐', preparing: '◐', stopping: '◑', waiting: '○', held: '‖' };

export function StateBadge(props: { task: Standing }) {
  const { t } = useWords();
  const standing = standingOf(props.task);
  return (
    <span className={classes.badge} data-standing={standing}>
      <span aria-hidden className={classes.mark}>
        {marks[standing] ?? '•'}
      </span>
      {t(`state.${standing}`)}
    </span>
  );
}
