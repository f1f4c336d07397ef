// Lines that were fetched, in windows of 500; the windows that were not looked at for longest are forgotten.
import type { components } from '@gen/api';

export type Lines = components['schemas']['Lines'];
export type Line = Lines['items'][number];

export const windowSize = 500;

interface Window {
  lines: (Line | undefined)[];
  fresh: Uint8Array; // 0: to be asked for, though an older text may be there to be shown
}

export class LineCache {
  private readonly windows = new Map<number, Window>(); // in the order of their use
  constructor(private readonly most = 60) {}

  get(line: number): Line | undefined {
    return this.windows.get(Math.floor(line / windowSize))?.lines[line % windowSize];
  }

  put(first: number, items: readonly Line[]) {
    items.forEach((item, i) => {
      const window = this.use(Math.floor((first + i) / windowSize));
      const at = (first + i) % windowSize;
      const old = window.lines[at];
      // The same object for the same text: a row that did not change is not drawn anew.
      if (!old || old.text !== item.text || old.cut !== item.cut) window.lines[at] = item;
      window.fresh[at] = 1;
    });
  }

  /** Lines of [from, to) may have changed. They are shown until they come anew. */
  expire(from: number, to: number) {
    for (const [index, { fresh }] of this.windows) {
      const start = index * windowSize;
      fresh.fill(0, Math.max(0, Math.min(windowSize, from - start)), Math.max(0, Math.min(windowSize, to - start)));
    }
  }

  /** Indices of the windows that hold lines of [from, to) which have to be asked for. */
  missing(from: number, to: number): number[] {
    const found: number[] = [];
    for (let index = Math.floor(from / windowSize); index * windowSize < to; index++) {
      const window = this.windows.get(index);
      const start = Math.max(0, from - index * windowSize);
      const end = Math.min(windowSize, to - index * windowSize);
      if (!window || window.fresh.subarray(start, end).includes(0)) found.push(index);
      else this.use(index);
    }
    return found;
  }

  clear() {
    this.windows.clear();
  }

  get size(): number {
    return this.windows.size;
  }

  private use(index: number): Window {
    const window = this.windows.get(index) ?? { lines: [], fresh: new Uint8Array(windowSize) };
    this.windows.delete(index);
    this.windows.set(index, window);
    if (this.windows.size > this.most) this.windows.delete(this.windows.keys().next().value!);
    return window;
  }
}
