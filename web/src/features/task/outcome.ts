// How an ended task is told: what happened, how one can see it, and the one thing to do about it.
import type { Attempt, TaskDetail } from '@/lib/api';
import type { Translate } from '@/lib/words';
import type { Act } from './actions';

type Remedy = 'retry' | 'change' | 'none';

export interface OutcomeView {
  tone: 'good' | 'bad' | 'quiet';
  reason: string;
  /** Class of the failure, as the yard names it; empty for none. */
  kind: string;
  exitCode: number | null;
  signal: number | null;
  evidence: string;
  /** The run it is about. */
  attempt: number | null;
  /** Earlier runs that ended badly, newest first. */
  earlier: { number: number; reason: string }[];
  remedy: Remedy;
}

// Trying again helps where the training itself is not to blame.
const passing = new Set(['data_loading', 'nccl', 'cuda_fault', 'device_lost', 'disk_full', 'killed_9', 'killed_oom', 'killed_signal', 'lost_reboot', 'lost_shim']);

export function outcomeView(task: Pick<TaskDetail, 'state' | 'outcome' | 'attempts'>): OutcomeView | null {
  const { outcome } = task;
  if (task.state !== 'ended' || !outcome) return null;
  const last = task.attempts.at(-1);
  return {
    tone: outcome.kind === 'succeeded' ? 'good' : outcome.kind === 'cancelled' ? 'quiet' : 'bad',
    reason: outcome.reason?.text ?? '',
    kind: outcome.class,
    exitCode: outcome.exit_code,
    signal: outcome.signal,
    evidence: outcome.evidence,
    attempt: last?.number ?? null,
    earlier: task.attempts.slice(0, -1).reverse().flatMap(earlierEnd),
    remedy: remedyOf(outcome),
  };
}

/** Acts that stand with why it waits or how it ended; the head needs them no second time. */
export function actsAtHand(task: Pick<TaskDetail, 'state' | 'held' | 'outcome' | 'attempts'>): Act[] {
  if (task.state === 'waiting') return task.held ? ['release'] : ['first'];
  const view = outcomeView(task);
  return view && view.remedy !== 'none' ? ['retry', 'clone'] : [];
}

/** The class of a failure as people say it; one that a newer yard may have, as it names it. */
export function classWord(name: string, t: Translate): string {
  const words: Record<string, string> = {
    exec_failed: t('task.class_exec_failed'),
    device_oom: t('task.class_device_oom'),
    host_oom: t('task.class_host_oom'),
    divergence: t('task.class_divergence'),
    import_error: t('task.class_import_error'),
    bad_argument: t('task.class_bad_argument'),
    file_missing: t('task.class_file_missing'),
    disk_full: t('task.class_disk_full'),
    cuda_fault: t('task.class_cuda_fault'),
    nccl: t('task.class_nccl'),
    hang: t('task.class_hang'),
    killed_from_outside: t('task.class_killed_from_outside'),
    data_loading: t('task.class_data_loading'),
    dependency: t('task.class_dependency'),
    script: t('task.class_script'),
  };
  return Object.hasOwn(words, name) ? words[name]! : name;
}

function earlierEnd(attempt: Attempt) {
  return attempt.outcome?.reason ? [{ number: attempt.number, reason: attempt.outcome.reason.text }] : [];
}

/** Again as it is, or only with something changed. */
export function remedyOf(outcome: NonNullable<TaskDetail['outcome']>): Remedy {
  switch (outcome.kind) {
    case 'succeeded':
      return 'none';
    case 'cancelled':
    case 'preempted':
    case 'lost':
      return 'retry';
    case 'timeout':
      return 'retry'; // goes on from its checkpoint
    case 'failed': {
      const id = outcome.reason?.id.replace(/^outcome\./, '') ?? '';
      return passing.has(outcome.class) || passing.has(id) ? 'retry' : 'change';
    }
  }
}
