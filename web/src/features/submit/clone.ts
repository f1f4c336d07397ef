// A new task like an older one: its settings as somebody would have typed them.
import type { TaskDetail } from '@/lib/api';
import { commandText, wordText } from '@/lib/shell';
import { emptyDraft, type After, type Draft } from './draft';
import { isMasked } from './spec';

export interface Clone {
  draft: Draft;
  /** Variables whose values are secret and have to be typed again. */
  masked: string[];
  /** Its command or folder has bytes that are not UTF-8, which no field can hold. */
  damaged: boolean;
}

/** A length as people type it: 2h30m. */
export function lengthText(value: string | number | undefined): string {
  if (typeof value !== 'number') return value ?? '';
  if (!Number.isInteger(value) || value <= 0) return `${value}s`;
  let rest = value;
  let text = '';
  for (const [unit, size] of [['d', 86_400], ['h', 3600], ['m', 60], ['s', 1]] as const) {
    if (rest >= size) text += `${Math.floor(rest / size)}${unit}`;
    rest %= size;
  }
  return text;
}

export function cloneOf(task: TaskDetail, now: Date): Clone {
  const { spec } = task;
  const words = [...spec.command, spec.workdir].map(wordText);
  const draft: Draft = { ...emptyDraft, like: task.id, name: spec.name ?? '' };
  draft.command = commandText(words.slice(0, -1).map((word) => word.text));
  draft.folder = words.at(-1)!.text;
  draft.environmentOf = spec.environment?.variables && Object.keys(spec.environment.variables).length > 0 ? task.id : null;
  const { gpus, share, gpu_memory, ...resources } = spec.resources ?? ({} as Partial<NonNullable<typeof spec.resources>>);
  if (gpus !== undefined) draft.devices = Array.isArray(gpus) ? `{${gpus.join(',')}}` : String(gpus);
  Object.assign(draft, shareOf(share));
  if (gpu_memory !== undefined) draft.gpuMemory = memoryText(gpu_memory);
  draft.ranks = spec.ranks ?? false;
  Object.assign(draft, priorityOf(spec.priority));
  draft.after = (spec.after ?? []).flatMap((after): After[] => (typeof after.task === 'number' ? [{ task: after.task, name: '', on: after.on ?? 'ok' }] : []));
  if (spec.begin && Date.parse(spec.begin) > now.getTime()) draft.begin = spec.begin;
  const { time, ...limits } = spec.limits ?? {};
  draft.time = lengthText(time);
  const { max, ...retry } = spec.retry ?? ({} as Partial<NonNullable<typeof spec.retry>>);
  if (max !== undefined) draft.retry = String(max);
  draft.tags = (spec.tags ?? []).join(', ');
  const masked: string[] = [];
  draft.variables = Object.entries(spec.variables ?? {}).map(([name, value]) => {
    if (!isMasked(value)) return { name, value: wordText(value).text };
    masked.push(name);
    return { name, value: '', masked: true };
  });
  // Not `code`: that is how the files looked then.
  const kept: Draft['kept'] = {};
  if (Object.keys(resources).length > 0) kept.resources = resources;
  if (Object.keys(limits).length > 0) kept.limits = limits;
  if (Object.keys(retry).length > 0) kept.retry = retry;
  if (spec.checkpoint && Object.keys(spec.checkpoint).length > 0) kept.checkpoint = spec.checkpoint;
  if (spec.umask !== undefined) kept.umask = spec.umask;
  if (spec.recipe) kept.recipe = spec.recipe;
  draft.kept = kept;
  return { draft, masked, damaged: words.some((word) => !word.whole) };
}

function shareOf(share: string | number | undefined): Partial<Draft> {
  const [part, mode, slice] = String(share ?? '1').split(':');
  if (Number(part) === 1) return {};
  return { share: mode === 'turns' ? 'turns' : 'together', part: part!, slice: slice ?? '' };
}

function priorityOf(priority: string | number | undefined): Partial<Draft> {
  const named = { high: 'high', '100': 'high', low: 'low', '-100': 'low', normal: 'normal', '0': 'normal' } as const;
  const known = named[String(priority ?? 0) as keyof typeof named];
  return known ? { priority: known } : { priority: 'number', priorityNumber: String(priority) };
}

/** Bytes as they are typed: 8G where that is exact. */
function memoryText(bytes: string | number): string {
  if (typeof bytes === 'string') return bytes;
  for (const [unit, size] of [['G', 2 ** 30], ['M', 2 ** 20]] as const) if (bytes % size === 0) return `${bytes / size}${unit}`;
  return String(bytes);
}

/** What is kept of a task without a field for it, as "limits.idle 600"; for people to see. */
export function keptWords(kept: Draft['kept']): string[] {
  const words: string[] = [];
  const walk = (value: unknown, path: string) => {
    if (value && typeof value === 'object' && !('base64' in value)) {
      for (const [key, inner] of Object.entries(value)) walk(inner, path ? `${path}.${key}` : key);
    } else if (value !== undefined && value !== false) {
      words.push(`${path} ${typeof value === 'object' ? wordText(value as { base64: string }).text : String(value)}`);
    }
  };
  walk(kept, '');
  return words;
}
