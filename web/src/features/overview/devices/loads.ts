// How busy each device was in the last minutes, as this page has seen it: one sample every two seconds of the newest reading.
import type { Device } from '@/lib/api';

const kStep = 2000;
const kSamples = 120; // four minutes
const kGap = 20_000; // after a longer look away it begins anew, rather than telling of minutes that were not seen

export class Loads {
  private readonly samples = new Map<string, number[]>();
  private readonly listeners = new Set<() => void>();
  private last = 0;

  /** Takes the reading of all devices at `now` (ms); between two steps nothing is taken. */
  take(devices: readonly Device[], now: number) {
    if (now - this.last < kStep - 50) return;
    if (now - this.last > kGap) this.samples.clear();
    this.last = now;
    const here = new Set<string>();
    for (const { id, reading } of devices) {
      if (reading?.utilisation == null) continue;
      here.add(id);
      this.samples.set(id, [...(this.samples.get(id) ?? []), reading.utilisation].slice(-kSamples));
    }
    for (const id of this.samples.keys()) if (!here.has(id)) this.samples.delete(id);
    for (const listener of [...this.listeners]) listener();
  }
  /** From the oldest to the newest, 0 to 1; the same array until there is a new sample. */
  of(id: string): number[] {
    return this.samples.get(id) ?? none;
  }
  readonly subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  };
}
const none: number[] = [];

export const loads = new Loads();
