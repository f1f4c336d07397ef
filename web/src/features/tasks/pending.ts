// What was asked of the yard and has not been seen to happen: every button for it, wherever it stands, waits instead of being
// pressed twice.
import { useEffect, useSyncExternalStore } from 'react';
import type { Task } from '@/lib/api';

const kLongest = 30_000; // then the button is given back: the yard may have thought otherwise

/** Text that differs once a wish has come true; where that depends on the wish, made of it. */
type Standing = string | ((what: string) => string);
const standingOf = (standing: Standing, what: string) => (typeof standing === 'string' ? standing : standing(what));

interface Asked {
  what: string;
  standing: string;
  timer: ReturnType<typeof setTimeout>;
}

/** Keys are ours: "task/12", "device/GPU0", "queue". */
export class Pending {
  private readonly asked = new Map<string, Asked>();
  private readonly listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  };

  /** `late` is told when the button is given back though nothing was seen to happen. */
  begin(key: string, what: string, standing: Standing, late?: () => void) {
    clearTimeout(this.asked.get(key)?.timer);
    const giveBack = () => {
      this.end(key);
      late?.();
    };
    this.asked.set(key, { what, standing: standingOf(standing, what), timer: setTimeout(giveBack, kLongest) });
    this.tell();
  }
  end(key: string) {
    const asked = this.asked.get(key);
    if (!asked) return;
    clearTimeout(asked.timer);
    this.asked.delete(key);
    this.tell();
  }
  /** What is still being done to something that stands so; null: nothing. */
  of(key: string, standing: Standing): string | null {
    const asked = this.asked.get(key);
    return asked && asked.standing === standingOf(standing, asked.what) ? asked.what : null;
  }
  has(key: string) {
    return this.asked.has(key);
  }
  private tell() {
    for (const listener of [...this.listeners]) listener();
  }
}

export const pending = new Pending();

export function usePending(key: string, standing: Standing): string | null {
  const what = useSyncExternalStore(pending.subscribe, () => pending.of(key, standing));
  // It has come true: were it to stand as before later on, that is another matter.
  useEffect(() => {
    if (what === null && pending.has(key)) pending.end(key);
  });
  return what;
}

// Acts on tasks. What was asked for in a list is under way on the task's page too.

type Marks = Pick<Task, 'state' | 'held' | 'priority'>;
type Marked = Marks & Pick<Task, 'id'>;
const keyOf = (id: number) => `task/${id}`;

/** How a task stands as far as an act goes: what the act changes, and what leaves nothing of it to do. */
function actStanding(act: string, { state, held, priority }: Marks): string {
  const waits = state === 'waiting';
  switch (act) {
    case 'cancel':
      return String(state === 'stopping' || state === 'ended');
    case 'kill':
    case 'retry':
      return String(state === 'ended');
    case 'hold':
      return String(held || !waits);
    case 'release':
      return String(held);
    case 'priority':
      return `${priority} ${waits}`;
    default:
      return ''; // nothing on the task shows it
  }
}

export const beginAct = (task: Marked, act: string, late?: () => void) => pending.begin(keyOf(task.id), act, (what) => actStanding(what, task), late);
export const endAct = (id: number) => pending.end(keyOf(id));
/** The act that is under way; null when one may press. */
export const pendingAct = (task: Marked) => pending.of(keyOf(task.id), (act) => actStanding(act, task));
export const usePendingAct = (task: Marked) => usePending(keyOf(task.id), (act) => actStanding(act, task));
