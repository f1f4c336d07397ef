import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LineCache, windowSize, type Line, type Lines } from './cache';
import { followFrom, moved, newLines, stopped } from './follow';
import { LogModel } from './model';

const item = (text: string): Line => ({ text, cut: false });
const row = 20;

/** A yard with one log. */
class FakeLog {
  lines: string[] = [];
  whole = true;
  ended = false;
  attempt = 1;
  asked: [number, number][] = [];
  fails = false;

  constructor(count: number) {
    this.append(count);
  }
  append(count: number) {
    for (let i = 0; i < count; i++) this.lines.push(`line ${this.lines.length}`);
  }
  readonly fetch = async (from: number, count: number): Promise<Lines> => {
    this.asked.push([from, count]);
    await Promise.resolve();
    if (this.fails) throw new Error('unreachable');
    const first = from < 0 ? Math.max(0, this.lines.length + from) : from;
    const given = this.lines.slice(first, first + count);
    return {
      attempt: this.attempt,
      rank: null,
      first: this.whole ? first : 0,
      total: this.whole ? this.lines.length : given.length,
      whole: this.whole,
      ended: this.ended,
      size: this.lines.join('\n').length,
      items: given.map(item),
    };
  };
}

async function opened(log: FakeLog, initialLine?: number) {
  const model = new LogModel(log.fetch, row, initialLine);
  model.setViewport(200);
  model.start();
  await vi.advanceTimersByTimeAsync(1);
  return model;
}
const inSight = (model: LogModel) => model.rows(0).map(({ item: line }) => line?.text);
async function grow(model: LogModel, log: FakeLog, count: number) {
  log.append(count);
  model.signal(log.lines.join('\n').length, false);
  await vi.advanceTimersByTimeAsync(300);
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a log that is opened', () => {
  it('shows its tail first, by one call', async () => {
    const log = new FakeLog(3_000);
    const model = await opened(log);
    expect(inSight(model)).toEqual(log.lines.slice(-10));
    expect(log.asked[0]![0]).toBeLessThan(0);
    expect(log.asked.filter(([from]) => from < 0)).toHaveLength(1);
  });

  it('follows: new lines come into sight, the oldest leave', async () => {
    const log = new FakeLog(3_000);
    const model = await opened(log);
    await grow(model, log, 700);
    expect(inSight(model)).toEqual(log.lines.slice(-10));
    expect(model.newLines).toBe(0);
  });

  it('begins at the line that was asked for, and does not follow', async () => {
    const model = await opened(new FakeLog(3_000), 1_000);
    await vi.advanceTimersByTimeAsync(1);
    expect(model.shows(1_000)).toBe(true);
    expect(inSight(model)).toContain('line 1000');
    expect(model.follow.following).toBe(false);
  });

  it('shows an empty log, and its first line when that comes', async () => {
    const log = new FakeLog(0);
    const model = await opened(log);
    expect([model.rows(), model.empty]).toEqual([[], false]);
    await grow(model, log, 1);
    expect(inSight(model)).toEqual(['line 0']);
  });
});

describe('someone who scrolls up', () => {
  it('is followed by nothing: what is in sight stays, and new lines are counted', async () => {
    const log = new FakeLog(3_000);
    const model = await opened(log);
    model.moveBy(-1000);
    await vi.advanceTimersByTimeAsync(1);
    const before = model.rows(2);
    await grow(model, log, 312);
    expect(model.rows(2)).toEqual(before);
    expect([model.follow.following, model.newLines]).toEqual([false, 312]);
  });

  it('follows again at the end', async () => {
    const log = new FakeLog(3_000);
    const model = await opened(log);
    model.moveBy(-1000);
    model.moveBy(990);
    expect(model.follow.following).toBe(false);
    model.moveBy(10);
    expect(model.follow.following).toBe(true);
    await grow(model, log, 5);
    expect(inSight(model)).toEqual(log.lines.slice(-10));
  });

  it('follows again by a key or the pill, from wherever it is', async () => {
    const log = new FakeLog(3_000);
    const model = await opened(log);
    model.toLine(5);
    await grow(model, log, 50);
    model.toEnd();
    await vi.advanceTimersByTimeAsync(300);
    expect(inSight(model)).toEqual(log.lines.slice(-10));
    expect(model.newLines).toBe(0);
  });

  it('sees a bar that rewrites the last line, in place', async () => {
    const log = new FakeLog(100);
    const model = await opened(log);
    model.moveBy(-20);
    log.lines[95] = 'bar 50 %';
    model.signal(1, false);
    await vi.advanceTimersByTimeAsync(300);
    expect(inSight(model)).toContain('bar 50 %');
    expect(model.total).toBe(100);
  });
});

describe('what is fetched', () => {
  it('is what is in sight, in windows, two calls at a time', async () => {
    const log = new FakeLog(100_000);
    const model = await opened(log);
    log.asked = [];
    model.toLine(50_000);
    expect(model.rows(0)[0]!.item).toBeUndefined();
    expect(log.asked.length).toBeLessThanOrEqual(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(inSight(model)[0]).toBe('line 50000');
    expect(log.asked.every(([from, count]) => from % windowSize === 0 && count <= windowSize)).toBe(true);
  });

  it('is not every window that a thumb passes', async () => {
    const log = new FakeLog(300_000);
    const model = await opened(log);
    log.asked = [];
    for (let i = 0; i < 200; i++) model.toLine(i * 1_000);
    await vi.advanceTimersByTimeAsync(5);
    expect(log.asked.length).toBeLessThan(8);
    expect(inSight(model)[0]).toBe('line 199000');
  });

  it('is little while a log grows fast: the end, not all that is between', async () => {
    const log = new FakeLog(1_000);
    const model = await opened(log);
    log.asked = [];
    for (let i = 0; i < 10; i++) await grow(model, log, 10_000);
    expect(log.asked.reduce((sum, [, count]) => sum + count, 0)).toBeLessThan(2_500);
    expect(inSight(model)).toEqual(log.lines.slice(-10));
  });

  it('is asked for again after a failure, which is told meanwhile', async () => {
    const log = new FakeLog(1_000);
    log.fails = true;
    const model = await opened(log);
    expect(model.problem).toBeInstanceOf(Error);
    log.fails = false;
    await vi.advanceTimersByTimeAsync(3_000);
    expect([model.problem, inSight(model).length]).toEqual([null, 10]);
  });

  it('ends with the view: no call and no timer after stop', async () => {
    const log = new FakeLog(1_000);
    const model = await opened(log);
    model.stop();
    log.asked = [];
    model.signal(1, false);
    await vi.advanceTimersByTimeAsync(10_000);
    expect([log.asked, vi.getTimerCount()]).toEqual([[], 0]);
  });
});

describe('a log that is still being counted', () => {
  it('shows its end without numbers, and takes them on when they are known', async () => {
    const log = new FakeLog(10_000);
    log.whole = false;
    const model = await opened(log);
    expect([model.whole, model.total]).toEqual([false, windowSize]);
    expect(inSight(model)).toEqual(log.lines.slice(-10));
    model.moveBy(-500);
    const before = inSight(model);
    log.whole = true;
    await vi.advanceTimersByTimeAsync(600);
    expect([model.whole, model.total]).toEqual([true, 10_000]);
    expect(inSight(model)).toEqual(before);
    expect(model.newLines).toBe(0);
  });

  it('goes to a line that was asked for as soon as it knows where that is', async () => {
    const log = new FakeLog(10_000);
    log.whole = false;
    const model = await opened(log);
    model.toLine(77);
    log.whole = true;
    await vi.advanceTimersByTimeAsync(600);
    expect(inSight(model)).toContain('line 77');
  });
});

it('begins anew when another attempt has begun', async () => {
  const log = new FakeLog(5_000);
  const model = await opened(log);
  Object.assign(log, { attempt: 2, lines: ['again'] });
  model.signal(5, false);
  await vi.advanceTimersByTimeAsync(300);
  expect([model.total, inSight(model)]).toEqual([1, ['again']]);
});

describe('the cache', () => {
  const some = (count: number) => Array.from({ length: count }, (_, i) => item(`${i}`));

  it('knows which windows are missing', () => {
    const cache = new LineCache();
    cache.put(1_000, some(500));
    expect(cache.missing(900, 1_600)).toEqual([1, 3]);
    expect(cache.missing(1_000, 1_500)).toEqual([]);
    expect(cache.get(1_234)?.text).toBe('234');
    expect(cache.get(999)).toBeUndefined();
  });

  it('takes lines that begin anywhere', () => {
    const cache = new LineCache();
    cache.put(480, some(40));
    expect([cache.get(519)?.text, cache.missing(480, 520), cache.missing(479, 520)]).toEqual(['39', [], [0]]);
  });

  it('forgets what was not looked at for longest', () => {
    const cache = new LineCache(3);
    for (const index of [0, 1, 2]) cache.put(index * windowSize, some(windowSize));
    cache.missing(0, 1); // looked at
    cache.put(3 * windowSize, some(windowSize));
    expect([cache.size, cache.get(0)?.text, cache.get(windowSize)]).toEqual([3, '0', undefined]);
  });

  it('still shows lines that have to be asked for again', () => {
    const cache = new LineCache();
    cache.put(0, some(500));
    cache.expire(436, 900);
    expect([cache.get(450)?.text, cache.missing(0, 436), cache.missing(0, 437)]).toEqual(['450', [], [0]]);
  });

  it('keeps the object of a line that did not change', () => {
    const cache = new LineCache();
    cache.put(0, some(2));
    const before = cache.get(1);
    cache.put(0, some(2));
    expect(cache.get(1)).toBe(before);
  });
});

describe('following', () => {
  const at = followFrom(true);

  it('ends with a move up, and not with one down', () => {
    expect(moved(at, -5, false, 90, 100)).toEqual({ following: false, seen: 100 });
    expect(moved(at, 5, false, 90, 100)).toEqual(at);
  });
  it('begins again at the end', () => {
    expect(moved({ following: false, seen: 5 }, 40, true, 100, 100).following).toBe(true);
  });
  it('counts lines that were not in sight since', () => {
    const left = stopped(at, 100);
    expect(newLines(left, 412)).toBe(312);
    expect(newLines(moved(left, 40, false, 300, 412), 412)).toBe(112);
    expect(newLines(at, 412)).toBe(0);
  });
});
