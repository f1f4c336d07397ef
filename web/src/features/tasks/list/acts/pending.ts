// What was asked of the yard and has not been seen to happen: buttons wait for it instead of being pressed twice.
import { useEffect, useSyncExternalStore } from 'react';
import type { Task } from '@/lib/api';

const kLongest = 30_000; // then the button is given back: the yard may have thought otherwise

interface Asked {
  what: string;
  standing: string;
  timer: ReturnType<typeof setTimeout>;
}

/** Keys are ours ("task/12", "device/GPU0", "queue"); a standing is text that differs once the wish has come true. */
export class Pending {
  private readonly asked = new Map<string, Asked>();
  private readonly listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  };

  begin(key: string, what: string, standing: string) {
    clearTimeout(this.asked.get(key)?.timer);
    this.asked.set(key, { what, standing, timer: setTimeout(() => this.end(key), kLongest) });
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
  of(key: string, standing: string): string | null {
    const asked = this.asked.get(key);
    return asked && asked.standing === standing ? asked.what : null;
  }
  has(key: string) {
    return this.asked.has(key);
  }
  private tell() {
    for (const listener of [...this.listeners]) listener();
  }
}

export const pending = new Pending();

export function usePending(key: string, standing: string): string | null {
  const what = useSyncExternalStore(pending.subscribe, () => pending.of(key, standing));
  // It has come true: were it to stand as before later on, that is another matter.
  useEffect(() => {
    if (what === null && pending.has(key)) pending.end(key);
  }, [what, key, standing]);
  return what;
}

export const taskKey = (id: number) => `task/${id}`;
export const taskStanding = (task: Pick<Task, 'state' | 'held' | 'attempt' | 'outcome' | 'priority'>) =>
  `${task.state} ${task.held} ${task.attempt ?? 0} ${task.outcome?.kind ?? ''} ${task.priority}`;
