// What a waiting task asked for, in a few words; priorities as people say them.
import type { Task } from '@/lib/api';
import type { Translate } from '@/lib/words';

/** What this yard gives out: its devices have another name where none is a GPU. */
export type Given = 'gpus' | 'slots';

/** "2 GPUs, ≥ 24 GiB", "1–4 GPUs", "50 %, in turns", "8 cores". */
export function wantWords(task: Pick<Task, 'share' | 'wants'>, given: Given, t: Translate): string {
  const { devices, cores, gpu_memory: memory } = task.wants;
  const words = [devices === '0' ? t('overview.want_cores', { count: cores }) : (partWords(task.share, t) ?? countWords(devices, given, t))];
  if (memory > 0) words.push(t('overview.want_memory', { memory }));
  return words.join(', ');
}

function partWords(share: string | null, t: Translate): string | null {
  const [text, mode] = share?.split(':') ?? [];
  const part = 100 * Number(text);
  if (!(part > 0 && part <= 100)) return null;
  return mode === 'turns' ? t('overview.want_part_turns', { part }) : t('overview.want_part', { part });
}

/** `devices` as it was asked for: 2, a range 1-4 or a choice {1,2,4}. */
function countWords(devices: string, given: Given, t: Translate): string {
  if (/^\d+$/.test(devices)) {
    const count = Number(devices);
    return given === 'gpus' ? t('overview.want_gpus', { count }) : t('overview.want_slots', { count });
  }
  const some = devices.replace('-', '–').replace(/[{}]/g, '').replaceAll(',', '/');
  return given === 'gpus' ? t('overview.want_gpus_some', { some }) : t('overview.want_slots_some', { some });
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
