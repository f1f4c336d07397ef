// LogModel is a log as it is looked at: which lines are in sight, which of them are here, what to fetch next, and whether the
// end is followed. It knows no DOM; LogView draws it.
import { LineCache, windowSize, type Line, type Lines } from './cache';
import { followFrom, moved, newLines, stopped, type Follow } from './follow';
import { Scroller } from './scroll';

export type FetchLines = (from: number, count: number) => Promise<Lines>;

const volatileLines = 64; // bars rewrite themselves that far up
const tailPause = 200; // ms between looks at the end
const countingPause = 400; // while the yard still counts a long log
const retryPause = 2000;
const around = 60; // lines fetched beyond either edge
const mostAtOnce = 2;

export interface Row {
  line: number;
  y: number;
  item: Line | undefined; // on its way
}

export class LogModel {
  readonly scroller: Scroller;
  readonly cache = new LineCache();
  follow: Follow;
  total = 0;
  /** The numbers of lines are known. */
  whole = false;
  ended = false;
  size = 0;
  attempt: number | null = null;
  /** Nothing has come yet. */
  empty = true;
  problem: unknown = null;
  /** Lines that came a second, of late. */
  rate = 0;

  private version = 0;
  private readonly heard = new Set<() => void>();
  private generation = 0; // answers of an older one count for nothing
  private readonly onTheirWay = new Set<number>();
  private tailOnItsWay = false;
  private tailWanted = false;
  private tailTimer: ReturnType<typeof setTimeout> | undefined;
  private lastTail = -Infinity;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private goal: number | null; // the line to show once it is there
  private stoppedForGood = false;

  constructor(
    private readonly fetchLines: FetchLines,
    row: number,
    initialLine?: number,
  ) {
    this.scroller = new Scroller(row);
    this.goal = initialLine ?? null;
    this.follow = followFrom(initialLine === undefined);
  }

  // ---- For whoever draws it.

  readonly subscribe = (hear: () => void) => {
    this.heard.add(hear);
    return () => void this.heard.delete(hear);
  };
  readonly snapshot = () => this.version;
  changed() {
    this.version++;
    for (const hear of this.heard) hear();
  }

  rows(extra = 6): Row[] {
    return this.scroller.rows(extra).map(({ line, y }) => ({ line, y, item: this.cache.get(line) }));
  }
  get newLines() {
    return newLines(this.follow, this.total);
  }

  // ---- What a person does.

  setViewport(height: number) {
    if (height === this.scroller.viewport) return;
    this.scroller.viewport = height;
    this.keepPlace();
  }
  /** Wrapped lines have another width. */
  rewrap() {
    this.scroller.forgetHeights();
    this.keepPlace();
  }
  /** A log that is followed stays at its end, one that is read at the line at the upper edge. */
  private keepPlace() {
    if (this.follow.following) this.scroller.toEnd();
    else this.scroller.clamp();
    this.settle();
  }

  /** The bar was moved to `top`. */
  scrolled(top: number) {
    const delta = this.scroller.scrolled(top);
    if (delta !== 0) this.afterMove(delta);
  }
  moveBy(pixels: number) {
    this.scroller.moveBy(pixels);
    this.afterMove(pixels);
  }
  private afterMove(pixels: number) {
    this.goal = null;
    const before = this.follow;
    this.follow = moved(this.follow, pixels, this.scroller.atEnd, this.lastInSight, this.total);
    if (this.follow.following && !before.following) this.poke(); // the end may have moved on
    this.settle();
  }
  private get lastInSight() {
    const rows = this.scroller.rows(0);
    return rows.length ? rows[rows.length - 1]!.line + 1 : 0;
  }

  toStart() {
    this.goal = null;
    this.follow = stopped(this.follow, this.total);
    this.scroller.toLine(0);
    this.settle();
  }
  toEnd() {
    this.goal = null;
    this.follow = followFrom(true);
    this.scroller.toEnd();
    this.poke();
    this.settle();
  }
  stopFollowing() {
    this.follow = stopped(this.follow, this.total);
    this.settle();
  }
  /** Line number `line`, from 0, at the upper edge, or with some of what is before it. */
  toLine(line: number, seen = false) {
    this.follow = stopped(this.follow, this.total);
    if (!this.whole) this.goal = line; // numbers are not known yet
    else this.scroller.toLine(line, seen);
    this.settle();
  }
  /** Is `line` in sight, whole? */
  shows(line: number): boolean {
    const row = this.scroller.rows(0).find((candidate) => candidate.line === line);
    return row !== undefined && row.y >= 0 && row.y + this.scroller.row <= this.scroller.viewport;
  }

  // ---- What the yard says.

  start() {
    this.stoppedForGood = false;
    this.poke();
  }
  stop() {
    this.stoppedForGood = true;
    this.generation++;
    clearTimeout(this.tailTimer);
    clearTimeout(this.retryTimer);
    this.tailTimer = this.retryTimer = undefined;
    this.tailOnItsWay = false;
    this.onTheirWay.clear();
  }

  /** The log has so many bytes now, by the live stream. */
  signal(size: number | undefined, ended: boolean | undefined) {
    if ((size !== undefined && size !== this.size) || (ended && !this.ended)) this.poke();
  }

  /** Look at the end soon. */
  private poke(pause = tailPause) {
    if (this.stoppedForGood) return;
    if (this.tailOnItsWay) {
      this.tailWanted = true;
      return;
    }
    if (this.tailTimer !== undefined) return;
    const wait = Math.max(0, this.lastTail + pause - performance.now());
    this.tailTimer = setTimeout(() => void this.fetchTail(), wait);
  }

  private async fetchTail() {
    this.tailTimer = undefined;
    this.tailOnItsWay = true;
    this.tailWanted = false;
    const { generation } = this;
    const began = performance.now();
    const inSight = Math.ceil(this.scroller.viewport / this.scroller.row);
    const count = !this.whole ? windowSize : this.follow.following ? Math.min(2000, Math.max(volatileLines, inSight + around)) : volatileLines;
    try {
      const lines = await this.fetchLines(-count, count);
      if (generation !== this.generation) return;
      this.problem = null;
      this.acceptTail(lines, (began - this.lastTail) / 1000);
    } catch (error) {
      if (generation !== this.generation) return;
      this.fail(error);
    }
    this.tailOnItsWay = false;
    this.lastTail = performance.now();
    if (!this.whole && !this.problem) this.poke(countingPause);
    else if (this.tailWanted) this.poke();
    this.settle();
  }

  private acceptTail(lines: Lines, seconds: number) {
    const anotherLog = this.attempt !== null && lines.attempt !== this.attempt;
    this.attempt = lines.attempt;
    this.ended = lines.ended;
    this.size = lines.size;
    const before = { total: this.total, whole: this.whole, empty: this.empty };
    this.empty = false;
    if (!lines.whole) {
      // The last lines, by numbers of their own: 0 is the first of those that came.
      if (!before.empty && !this.follow.following && !before.whole) return; // someone reads what is here already
      this.whole = false;
      this.cache.clear();
      this.total = this.scroller.total = lines.items.length;
      this.cache.put(0, lines.items);
    } else {
      this.whole = true;
      this.total = this.scroller.total = lines.total;
      if (!before.whole || anotherLog || lines.total < before.total) {
        this.generation++; // what is on its way has other numbers
        this.onTheirWay.clear();
        this.cache.clear();
        this.scroller.forgetHeights();
        if (!before.whole && !before.empty) this.scroller.line += lines.total - before.total;
        this.follow = { ...this.follow, seen: Math.max(0, this.follow.seen + (before.whole ? 0 : lines.total - before.total)) };
        if (this.follow.seen > lines.total) this.follow.seen = lines.total;
      } else {
        this.rate = seconds > 0 && seconds < 10 ? (lines.total - before.total) / seconds : 0;
        this.cache.expire(Math.max(0, before.total - volatileLines), lines.total);
      }
      this.cache.put(lines.first, lines.items);
      if (before.empty) this.follow = { ...this.follow, seen: lines.total };
    }
    if (this.goal !== null && this.whole) {
      this.scroller.toLine(this.goal, true);
      this.goal = null;
    } else if (this.follow.following) this.scroller.toEnd();
    else this.scroller.clamp();
  }

  private fail(error: unknown) {
    this.problem = error;
    if (this.retryTimer !== undefined || this.stoppedForGood) return;
    this.retryTimer = setTimeout(() => {
      this.retryTimer = undefined;
      this.problem = null;
      this.poke();
      this.settle();
    }, retryPause);
  }

  /** Fetches what is in sight and not here, and has it drawn. */
  private settle() {
    this.changed();
    if (!this.whole || this.problem || this.stoppedForGood) return;
    const rows = this.scroller.rows(0);
    if (rows.length === 0) return;
    const from = Math.max(0, rows[0]!.line - around);
    const to = Math.min(this.total, rows[rows.length - 1]!.line + 1 + around);
    for (const index of this.cache.missing(from, to)) {
      if (this.onTheirWay.size >= mostAtOnce) return;
      if (!this.onTheirWay.has(index)) void this.fetchWindow(index);
    }
  }

  private async fetchWindow(index: number) {
    this.onTheirWay.add(index);
    const { generation } = this;
    const first = index * windowSize;
    try {
      const lines = await this.fetchLines(first, Math.min(windowSize, Math.max(1, this.total - first)));
      if (generation !== this.generation) return;
      this.onTheirWay.delete(index);
      if (lines.items.length === 0 && first < this.total) this.poke(); // shorter than it was
      else this.cache.put(lines.first, lines.items);
      if (lines.items.length === 0) return this.changed();
    } catch (error) {
      if (generation !== this.generation) return;
      this.onTheirWay.delete(index);
      this.fail(error);
    }
    this.settle();
  }
}
