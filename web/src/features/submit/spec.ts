// From a draft to the task that is sent, and from a refusal of the yard to the field it is about. What the yard judges well is
// left to it: here only that is refused which could not be sent at all.
import type { Schemas } from '@/lib/api';
import { readBegin } from './begin';
import { readCommand } from '@/lib/shell';
import type { Draft, Field, SpecWish } from './draft';

/** Why a field cannot be sent; `submit.fault_…` says it. */
type Fault =
  | 'command_missing'
  | 'command_quote'
  | 'command_double_quote'
  | 'command_backslash'
  | 'command_nul'
  | 'folder_missing'
  | 'begin'
  | 'variable_name'
  | 'variable_twice'
  | 'variable_masked';
export interface FieldFault {
  field: Field;
  fault: Fault;
  /** What it is about, as the name of a variable. */
  what?: string;
}

export type Variables = Schemas['Variables'];

const digits = (text: string) => /^\d{1,15}$/.test(text);

/**
 * The task of a draft, or everything that keeps it from being one. `environment`: the variables of the task it names.
 * Lenient, as for a preview: a secret that is still to be typed is left out.
 */
export function specOf(draft: Draft, environment: Variables | null, now: Date, { lenient = false } = {}): { spec: SpecWish } | { faults: FieldFault[] } {
  const faults: FieldFault[] = [];
  const command = readCommand(draft.command);
  if (command.kind === 'empty') faults.push({ field: 'command', fault: 'command_missing' });
  if (command.kind === 'fault') faults.push({ field: 'command', fault: `command_${command.fault}` });
  const folder = draft.folder.trim();
  if (!folder) faults.push({ field: 'folder', fault: 'folder_missing' });
  faults.push(...variableFaults(draft, lenient));
  const begin = draft.begin.trim() ? readBegin(draft.begin, now) : null;
  if (draft.begin.trim() && !begin) faults.push({ field: 'begin', fault: 'begin' });
  if (faults.length > 0 || command.kind === 'empty' || command.kind === 'fault') return { faults };

  const spec: SpecWish = { ...draft.kept, command: command.argv, workdir: folder };
  if (draft.name.trim()) spec.name = draft.name.trim();
  const resources = { ...draft.kept.resources };
  if (draft.devices.trim()) resources.gpus = digits(draft.devices.trim()) ? Number(draft.devices) : draft.devices.trim();
  if (draft.share !== 'whole') resources.share = [draft.part.trim(), draft.share, ...(draft.share === 'turns' && draft.slice.trim() ? [draft.slice.trim()] : [])].join(':');
  if (draft.gpuMemory.trim()) resources.gpu_memory = draft.gpuMemory.trim();
  if (Object.keys(resources).length > 0) spec.resources = resources;
  if (draft.ranks) spec.ranks = true;
  if (draft.priority === 'number') {
    if (draft.priorityNumber.trim()) spec.priority = draft.priorityNumber.trim();
  } else if (draft.priority !== 'normal') {
    spec.priority = draft.priority;
  }
  if (draft.after.length > 0) spec.after = draft.after.map(({ task, on }) => ({ task, on }));
  if (begin) spec.begin = begin.toISOString();
  if (draft.time.trim()) spec.limits = { ...draft.kept.limits, time: draft.time.trim() };
  // What is no whole number goes as it was typed: the yard says what it should have been.
  if (draft.retry.trim()) spec.retry = { ...draft.kept.retry, max: digits(draft.retry.trim()) ? Number(draft.retry) : (draft.retry.trim() as unknown as number) };
  const tags = draft.tags.split(/[,\uff0c]/).map((tag) => tag.trim()).filter(Boolean);
  if (tags.length > 0) spec.tags = tags;
  if (draft.hold) spec.hold = true;
  // fromEntries, so that a variable may have any name, `__proto__` too.
  const variables = draft.variables.filter(({ name, value, masked }) => name !== '' && !(masked && value === ''));
  if (variables.length > 0) spec.variables = Object.fromEntries(variables.map(({ name, value }) => [name, value]));
  const shell = draft.environmentOf !== null && environment ? Object.entries(environment).filter(([, value]) => !isMasked(value)) : [];
  if (shell.length > 0) spec.environment = { variables: Object.fromEntries(shell) };
  return { spec };
}

/** How the yard writes a value that it does not tell. */
export const isMasked = (value: unknown) => value === '***';

/** What is wrong with the variables: the first thing is enough. */
export function variableFaults(draft: Draft, lenient = false): FieldFault[] {
  const seen = new Set<string>();
  for (const { name, value, masked } of draft.variables) {
    if (name === '' && value === '') continue;
    if (name === '' || name.includes('=')) return [{ field: 'variables', fault: 'variable_name', what: name }];
    if (seen.has(name)) return [{ field: 'variables', fault: 'variable_twice', what: name }];
    if (masked && value === '' && !lenient) return [{ field: 'variables', fault: 'variable_masked', what: name }];
    seen.add(name);
  }
  return [];
}

const pointers: readonly [string, Field][] = [
  ['/command', 'command'],
  ['/workdir', 'folder'],
  ['/name', 'name'],
  ['/resources/gpus', 'devices'],
  ['/resources/share', 'share'],
  ['/resources/gpu_memory', 'gpu_memory'],
  ['/resources', 'kept'],
  ['/ranks', 'ranks'],
  ['/variables', 'variables'],
  ['/environment', 'environment'],
  ['/priority', 'priority'],
  ['/after', 'after'],
  ['/begin', 'begin'],
  ['/limits/time', 'time'],
  ['/limits', 'kept'],
  ['/retry/max', 'retry'],
  ['/retry', 'retry'],
  ['/tags', 'tags'],
  ['/hold', 'hold'],
  ['/checkpoint', 'kept'],
  ['/umask', 'kept'],
  ['/recipe', 'kept'],
];

/** The field that a pointer of a refusal is about; null for none, as for the whole. */
export function fieldOf(pointer: string): Field | null {
  const found = pointers.find(([begin]) => pointer === begin || pointer.startsWith(`${begin}/`));
  return found ? found[1] : null;
}

/** The sentences of a refusal, by field; `null` holds those that are about none. A field may hold several, a line each. */
export function refusalByField(problem: Schemas['Problem']): Map<Field | null, string> {
  const said = new Map<Field | null, string>();
  for (const { field, detail } of problem.errors?.length ? problem.errors : [problem]) {
    const at = fieldOf(field ?? '');
    const before = said.get(at);
    if (before === undefined) said.set(at, detail);
    else if (!before.split('\n').includes(detail)) said.set(at, `${before}\n${detail}`);
  }
  return said;
}
