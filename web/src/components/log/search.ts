// LogSearch finds a text in a log that the yard looks through. Matches are counted in the background, up to a limit; going to
// the next or the one before asks around the place where one is, so that it is quick at the end of a long log too.
import type { components } from '@gen/api';

export type Matches = components['schemas']['Matches'];
export interface SearchOptions {
  regex: boolean;
  matchCase: boolean;
}
export type SearchLines = (q: string, options: SearchOptions, from: number, limit: number) => Promise<Matches>;

export const mostCounted = 10_000;
const perCall = 1000;
const firstLook = 1000; // lines before the place, when going back; four times more at each try

export class LogSearch {
  q = '';
  options: SearchOptions = { regex: false, matchCase: false };
  /** Lines that match, in order, of [0, searched). */
  found: number[] = [];
  searched = 0;
  counting = false;
  /** All of the log was looked at. */
  complete = false;
  problem: unknown = null;
  current: number | null = null;
  private generation = 0;
  private readonly lines = new Set<number>();

  constructor(
    private readonly search: SearchLines,
    private readonly changed: () => void,
  ) {}

  /** Begins anew. With nothing to look for, ends. */
  set(q: string, options: SearchOptions) {
    this.generation++;
    Object.assign(this, { q, options, found: [], searched: 0, counting: false, complete: false, problem: null, current: null });
    this.lines.clear();
    this.changed();
    if (q !== '') void this.count();
  }

  matches(line: number): boolean {
    return this.lines.has(line);
  }
  /** "3" of 57; 0 when the current one is not among those that were counted. */
  get position(): number {
    if (this.current === null) return 0;
    const at = lowerBound(this.found, this.current);
    return this.found[at] === this.current ? at + 1 : 0;
  }

  /** More came at the end of the log: look there too. */
  async grown() {
    if (this.q === '' || this.counting || !this.complete) return;
    this.complete = false;
    await this.count();
  }

  private async count() {
    const { generation } = this;
    this.counting = true;
    let from = this.searched;
    try {
      while (this.found.length < mostCounted) {
        const { items, next } = await this.search(this.q, this.options, from, perCall);
        if (generation !== this.generation) return;
        this.note(items);
        for (const { line } of items) if (line > (this.found[this.found.length - 1] ?? -1)) this.found.push(line);
        this.complete = next === null;
        // The last line may still be written: it is looked at again when the log grows.
        this.searched = next ?? Math.max(from, items.length ? items[items.length - 1]!.line : from);
        if (next === null || next <= from) break;
        from = next;
        this.changed();
      }
    } catch (error) {
      if (generation !== this.generation) return;
      this.problem = error;
    }
    this.counting = false;
    this.changed();
  }

  private note(items: Matches['items']) {
    if (this.lines.size > 200_000) this.lines.clear();
    for (const { line } of items) this.lines.add(line);
  }

  /** The first match behind `line`, from the start again when there is none; null when there is none at all. */
  async next(line: number): Promise<number | null> {
    return this.go(async (is) => (await this.forward(line + 1, is)) ?? this.forward(0, is));
  }
  /** The last match before `line`, from the end again when there is none. */
  async previous(line: number, total: number): Promise<number | null> {
    return this.go(async (is) => (await this.backward(line, is)) ?? this.backward(total, is));
  }

  private async go(find: (is: () => boolean) => Promise<number | null>): Promise<number | null> {
    if (this.q === '') return null;
    const { generation } = this;
    try {
      const line = await find(() => generation === this.generation);
      if (generation !== this.generation) return null;
      this.current = line;
      this.changed();
      return line;
    } catch (error) {
      if (generation === this.generation) {
        this.problem = error;
        this.changed();
      }
      return null;
    }
  }

  private async forward(from: number, is: () => boolean): Promise<number | null> {
    const known = this.found[lowerBound(this.found, from)];
    if (known !== undefined) return known;
    if (this.complete) return null;
    let at: number | null = Math.max(from, this.found.length ? this.found[this.found.length - 1]! + 1 : 0);
    while (at !== null && is()) {
      const answer: Matches = await this.search(this.q, this.options, at, 1);
      this.note(answer.items);
      if (answer.items.length) return answer.items[0]!.line;
      at = answer.next !== null && answer.next > at ? answer.next : null;
    }
    return null;
  }

  private async backward(before: number, is: () => boolean): Promise<number | null> {
    if (this.complete || before <= this.searched) return this.found[lowerBound(this.found, before) - 1] ?? null;
    let to = before;
    for (let look = firstLook; to > 0 && is(); look *= 4) {
      const from = Math.max(0, to - look);
      let last: number | null = null;
      for (let at: number | null = from; at !== null && at < to && is(); ) {
        const answer: Matches = await this.search(this.q, this.options, at, perCall);
        this.note(answer.items);
        for (const { line } of answer.items) if (line < to) last = line;
        at = answer.next !== null && answer.next > at ? answer.next : null;
      }
      if (last !== null) return last;
      to = from;
    }
    return null;
  }
}

/** The first index whose number is at least `value`. */
function lowerBound(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What to mark within a line, by the browser; null where only the yard can tell (a pattern that could take it too long). */
export function markPattern(q: string, { regex, matchCase }: SearchOptions): RegExp | null {
  if (q === '') return null;
  const flags = matchCase ? 'gu' : 'giu';
  if (!regex) return new RegExp(q.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), flags);
  // A browser's engine tries again and again where RE2 does not: repetition of a group, or twice, is left to the yard.
  const repeats = q.replace(/\\./g, 'x').match(/[*+]|\{\d*,\d*\}/g)?.length ?? 0;
  if (repeats > 1 || /\)[*+?{]/.test(q) || q.length > 200) return null;
  try {
    return new RegExp(q, flags);
  } catch {
    return null;
  }
}

export type Ranges = [from: number, to: number][];

/** Where the pattern is in a text; at most a hundred places. */
export function markRanges(text: string, pattern: RegExp): Ranges {
  const ranges: Ranges = [];
  for (const found of text.slice(0, 4000).matchAll(pattern)) {
    if (found[0] === '') continue;
    ranges.push([found.index, found.index + found[0].length]);
    if (ranges.length === 100) break;
  }
  return ranges;
}
