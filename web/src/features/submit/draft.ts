// What is being written on the new-task page: text as it was typed, judged and turned into a task only by spec.ts.
import type { TaskSpec } from '@/features/tasks';

/** A task as it is sent: settings that have a default may be left out. */
type Loose<T> = T extends (infer Item)[] ? Loose<Item>[] : T extends object ? { [Key in keyof T]?: Loose<T[Key]> } : T;
export type SpecWish = Loose<Omit<TaskSpec, 'command' | 'workdir'>> & Pick<TaskSpec, 'command' | 'workdir'>;

/** The fields of the page, by which refusals find their place. In the order they stand. */
export const fields = ['command', 'folder', 'environment', 'devices', 'name', 'ranks', 'share', 'gpu_memory', 'variables', 'priority', 'after', 'begin', 'time', 'retry', 'tags', 'hold', 'kept'] as const;
export type Field = (typeof fields)[number];

/** Fields that are always in view; the others are under "More". */
export const mainFields: readonly Field[] = ['command', 'folder', 'environment', 'devices', 'name'];

export type On = 'ok' | 'fail' | 'any';
export interface Variable {
  name: string;
  value: string;
  /** Its value was secret where it came from, and has to be typed again. */
  masked?: boolean;
}
export interface After {
  task: number;
  name: string;
  on: On;
}

export interface Draft {
  command: string;
  folder: string;
  /** The task whose shell this one gets; null: the yard's basic variables. */
  environmentOf: number | null;
  devices: string;
  name: string;
  ranks: boolean;
  share: 'whole' | 'together' | 'turns';
  part: string;
  slice: string;
  gpuMemory: string;
  variables: Variable[];
  priority: 'high' | 'normal' | 'low' | 'number';
  priorityNumber: string;
  after: After[];
  begin: string;
  time: string;
  retry: string;
  tags: string;
  hold: boolean;
  /** The task it was cloned from, and what that one has for which there is no field here. */
  like: number | null;
  kept: Omit<SpecWish, 'command' | 'workdir'>;
}

export const emptyDraft: Draft = {
  command: '',
  folder: '',
  environmentOf: null,
  devices: '',
  name: '',
  ranks: false,
  share: 'whole',
  part: '0.5',
  slice: '',
  gpuMemory: '',
  variables: [],
  priority: 'normal',
  priorityNumber: '',
  after: [],
  begin: '',
  time: '',
  retry: '',
  tags: '',
  hold: false,
  like: null,
  kept: {},
};

/** The parts of a draft that a field shows. */
const partsOf: Record<Field, readonly (keyof Draft)[]> = {
  command: ['command'],
  folder: ['folder'],
  environment: ['environmentOf'],
  devices: ['devices'],
  name: ['name'],
  ranks: ['ranks'],
  share: ['share', 'part', 'slice'],
  gpu_memory: ['gpuMemory'],
  variables: ['variables'],
  priority: ['priority', 'priorityNumber'],
  after: ['after'],
  begin: ['begin'],
  time: ['time'],
  retry: ['retry'],
  tags: ['tags'],
  hold: ['hold'],
  kept: ['kept'],
};

/** The fields in which two drafts differ. */
export function differences(draft: Draft, base: Draft): Set<Field> {
  return new Set(fields.filter((field) => partsOf[field].some((part) => JSON.stringify(draft[part]) !== JSON.stringify(base[part]))));
}

/** The draft with a field as it is in `base`. */
export function withFieldOf(draft: Draft, base: Draft, field: Field): Draft {
  const next = { ...draft };
  for (const part of partsOf[field]) Object.assign(next, { [part]: base[part] });
  return next;
}

const kept = 'trainyard.draft';

/** Kept for the next visit; never the value of a variable. */
export function keepDraft(draft: Draft) {
  try {
    const variables = draft.variables.map(({ name }) => ({ name, value: '', masked: true }));
    localStorage.setItem(kept, JSON.stringify({ ...draft, variables }));
  } catch {
    // full or forbidden: then it is not kept
  }
}
export function forgetDraft() {
  try {
    localStorage.removeItem(kept);
  } catch {
    // there was none
  }
}
/** The kept draft; anything of it that is not what it should be is left out. */
export function keptDraft(): Draft | null {
  let said: unknown;
  try {
    said = JSON.parse(localStorage.getItem(kept) ?? 'null');
  } catch {
    return null;
  }
  if (typeof said !== 'object' || said === null || Array.isArray(said)) return null;
  const found = said as Record<string, unknown>;
  const draft: Draft = { ...emptyDraft };
  for (const [key, empty] of Object.entries(emptyDraft)) {
    const value = found[key];
    const fits = empty === null ? value === null || Number.isSafeInteger(value) : typeof value === typeof empty && Array.isArray(value) === Array.isArray(empty) && value !== null;
    if (fits) Object.assign(draft, { [key]: value });
  }
  const isOn = (value: unknown): value is On => value === 'ok' || value === 'fail' || value === 'any';
  draft.variables = draft.variables.filter((variable) => typeof variable?.name === 'string').map(({ name }) => ({ name, value: '', masked: true }));
  draft.after = draft.after.filter((after) => Number.isSafeInteger(after?.task) && typeof after.name === 'string' && isOn(after.on));
  if (!['whole', 'together', 'turns'].includes(draft.share)) draft.share = 'whole';
  if (!['high', 'normal', 'low', 'number'].includes(draft.priority)) draft.priority = 'normal';
  return draft;
}

/** Notes in the history that this copy has been written in: loaded again it shows that, while a new copy shows the task. */
export function noteCopy(copy: Draft) {
  if (copy.like !== null) history.replaceState({ ...(history.state as object | null), wrote: copy.like }, '');
}
/** What was written in a copy before the page was loaded again, or came back to; null for a copy that is new. */
export function keptCopy(copy: Draft): Draft | null {
  const draft = (history.state as { wrote?: unknown } | null)?.wrote === copy.like ? keptDraft() : null;
  if (draft === null || draft.like !== copy.like) return null;
  // Values of variables are not kept: those of the copy are known.
  const variables = draft.variables.map((variable) => copy.variables.find(({ name }) => name === variable.name) ?? variable);
  return { ...draft, variables };
}
