// What was asked for, as lines of words: title and text.
import type { TaskDetail } from '@/lib/api';
import { formatBytes, formatDuration, formatTime, type Language } from '@/lib/format';
import type { Translate } from '@/lib/words';

type Spec = TaskDetail['spec'];
export type Row = [title: string, text: string];

const bytes = (value: string | number) => (typeof value === 'number' ? formatBytes(value) : value);
const length = (value: string | number, language: Language) => (typeof value === 'number' ? formatDuration(value, language) : value);

/** Devices, their share and memory, processes. */
export function resourceRows({ resources, ranks }: Spec, t: Translate): Row[] {
  const rows: Row[] = [];
  const gpus = resources?.gpus;
  rows.push([t('task.fact_devices'), gpus === undefined ? '1' : Array.isArray(gpus) ? `{${gpus.join(',')}}` : String(gpus)]);
  if (resources?.share !== undefined) rows.push([t('task.fact_share'), shareText(String(resources.share), t)]);
  if (resources?.gpu_memory !== undefined) rows.push([t('task.fact_gpu_memory'), bytes(resources.gpu_memory)]);
  if (resources?.exclusive) rows.push([t('task.fact_exclusive'), t('task.yes')]);
  if (resources?.cpus !== undefined) rows.push([t('task.fact_cpus'), String(resources.cpus)]);
  if (resources?.memory !== undefined) rows.push([t('task.fact_memory'), bytes(resources.memory)]);
  if (ranks) rows.push([t('task.fact_processes'), t('task.fact_ranks')]);
  return rows;
}

function shareText(share: string, t: Translate): string {
  const [part = '', mode, slice] = share.split(':');
  if (mode === 'turns') return slice ? t('task.share_turns_of', { part, slice }) : t('task.share_turns', { part });
  return t('task.share_together', { part });
}

/** When it may start, when it is stopped, whether it is tried again. */
export function ruleRows({ begin, limits, retry, checkpoint }: Spec, t: Translate, language: Language): Row[] {
  const rows: Row[] = [];
  if (begin) rows.push([t('task.fact_begin'), formatTime(begin, language)]);
  if (limits?.time !== undefined) rows.push([t('task.fact_time'), length(limits.time, language)]);
  if (limits?.idle !== undefined) rows.push([t('task.fact_idle'), length(limits.idle, language)]);
  if (limits?.log !== undefined) rows.push([t('task.fact_log_limit'), bytes(limits.log)]);
  rows.push([t('task.fact_retry'), retryText(retry, t, language)]);
  const stop = [checkpoint?.signal !== undefined ? String(checkpoint.signal) : '', checkpoint?.target ?? '', checkpoint?.grace !== undefined ? length(checkpoint.grace, language) : ''].filter(Boolean);
  if (stop.length > 0) rows.push([t('task.fact_stop'), stop.join(' · ')]);
  return rows;
}

function retryText(retry: Spec['retry'], t: Translate, language: Language): string {
  const most = retry?.max ?? 1;
  if (most === 0) return t('task.retry_off');
  const words = retry?.on === 'any' ? t('task.retry_any', { most }) : t('task.retry_table', { most });
  return retry?.delay === undefined ? words : `${words} · ${t('task.retry_delay', { delay: length(retry.delay, language) })}`;
}
