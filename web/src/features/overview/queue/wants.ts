// What a waiting task needs, as far as a list tells: its share, and the figures of the reason why it waits.
import type { Task } from '@/lib/api';
import type { Translate } from '@/lib/words';

export interface Want {
  count: number | null;
  of: 'gpus' | 'slots' | 'cores' | 'devices';
  /** Part of a device, 0 to 1; null: whole ones. */
  share: number | null;
  turns: boolean;
  /** Bytes that the device must have. */
  memory: number | null;
}

const number = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : null);

/** Null where nothing is known: a paused or held task does not say what it needs. */
export function wantOf(task: Pick<Task, 'share' | 'reason'>): Want | null {
  const [part, mode] = task.share?.split(':') ?? [];
  const share = part === undefined ? null : Number(part);
  const { id = '', args = {} } = task.reason ?? {};
  const count = number(args.want);
  const memory = number(args.memory);
  if (count === null && share === null) return null;
  const of = id.startsWith('why.cores') ? 'cores' : id.startsWith('why.slots') ? 'slots' : id.startsWith('why.gpus') || id === 'why.not_alone' ? 'gpus' : 'devices';
  return { count, of, share: share !== null && share > 0 && share <= 1 ? share : null, turns: mode === 'turns', memory };
}

export function wantWords(want: Want | null, t: Translate): string {
  if (!want) return '';
  const { count, of, share, turns, memory } = want;
  const words: string[] = [];
  if (share !== null) words.push(turns ? t('overview.want_part_turns', { part: share * 100 }) : t('overview.want_part', { part: share * 100 }));
  else if (count !== null)
    words.push(of === 'gpus' ? t('overview.want_gpus', { count }) : of === 'slots' ? t('overview.want_slots', { count }) : of === 'cores' ? t('overview.want_cores', { count }) : t('overview.want_devices', { count }));
  if (memory !== null) words.push(t('overview.want_memory', { memory }));
  return words.join(', ');
}

/** "high" where people said high. */
export function priorityWords(priority: number, t: Translate): string {
  if (priority === 100) return t('overview.priority_high');
  if (priority === 0) return t('overview.priority_normal');
  if (priority === -100) return t('overview.priority_low');
  return String(priority).replace('-', '−');
}

const kMost = 1_000_000_000;
/** A priority as it was typed; null when the yard would not take it. */
export function readPriority(text: string): number | null {
  const typed = text.trim().replace('−', '-');
  if (!/^-?\d{1,10}$/.test(typed)) return null;
  const value = Number(typed);
  return Math.abs(value) <= kMost ? value : null;
}
