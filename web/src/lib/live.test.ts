import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Live } from './live';

class FakeSocket {
  static all: FakeSocket[] = [];
  readyState = 0;
  sent: Record<string, unknown>[] = [];
  onmessage: ((event: MessageEvent) => void) | null = null;
  onclose: (() => void) | null = null;
  constructor(readonly url: string) {
    FakeSocket.all.push(this);
  }
  send(text: string) {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }
  close() {
    this.readyState = 3;
  }
  // What the yard does.
  greet(seq = 10, version = '1') {
    this.readyState = 1;
    this.say({ hello: { instance: 'abc', version, seq, now: new Date().toISOString() } });
  }
  say(frame: object) {
    this.onmessage?.({ data: JSON.stringify(frame) } as MessageEvent);
  }
  die() {
    this.readyState = 3;
    this.onclose?.();
  }
}
const newest = () => FakeSocket.all.at(-1)!;

let live: Live;
let poll: ReturnType<typeof vi.fn<(since: number, signal: AbortSignal) => Promise<{ next: number }>>>;
const versions: string[] = [];
const onDead = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('WebSocket', { OPEN: 1 });
  FakeSocket.all = [];
  versions.length = 0;
  onDead.mockClear();
  poll = vi.fn(() => new Promise<{ next: number }>(() => {}));
  live = new Live({ url: () => 'ws://yard/live', poll, onVersion: (version) => versions.push(version), onDead, socket: (url) => new FakeSocket(url) as unknown as WebSocket });
});
afterEach(() => {
  live.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('topics asked for before the stream is there are begun with its hello', () => {
  const values: unknown[] = [];
  live.subscribe('yard', { onValue: (value) => values.push(value) });
  live.start();
  newest().greet();
  expect(newest().sent).toEqual([{ sub: ['yard'] }]);
  newest().say({ topic: 'yard', seq: 11, value: { waiting: 1 } });
  expect(values).toEqual([{ waiting: 1 }]);
  expect(live.getState().line).toBe('live');
});

test('two listeners of one topic cost one subscription; the second asks for itself; the last one ends it', () => {
  live.start();
  newest().greet();
  const again = vi.fn();
  const end1 = live.subscribe('task/1', { onValue: () => {} });
  const end2 = live.subscribe('task/1', { onValue: () => {}, onAskAgain: again });
  expect(newest().sent).toEqual([{ sub: ['task/1'] }]);
  expect(again).toHaveBeenCalledOnce();
  end1();
  expect(newest().sent).toHaveLength(1);
  end2();
  expect(newest().sent.at(-1)).toEqual({ unsub: ['task/1'] });
});

test('after a break all topics begin again, and events go on where they were', () => {
  live.subscribe('devices', { onValue: () => {} });
  live.subscribe('events', { onValue: () => {} });
  live.start();
  newest().greet(10);
  newest().say({ topic: 'events', seq: 15, value: { items: [], next: 15 } });
  newest().die();
  expect(live.getState().line).toBe('connecting');
  vi.advanceTimersByTime(1000);
  expect(FakeSocket.all).toHaveLength(2);
  newest().greet(20);
  expect(newest().sent).toEqual([{ sub: ['devices'] }, { sub: ['events'], since: 15 }]);
});

test('a stream that is silent for longer than its beat is taken for dead', () => {
  live.start();
  newest().greet();
  const first = newest();
  vi.advanceTimersByTime(20_000);
  first.say({ beat: new Date().toISOString() });
  vi.advanceTimersByTime(20_000);
  expect(newest()).toBe(first);
  expect(onDead).not.toHaveBeenCalled();
  vi.advanceTimersByTime(15_000);
  expect(newest()).not.toBe(first);
  expect(onDead).toHaveBeenCalledOnce();
});

test('a stream that opens and is never greeted is given up, and another is tried', async () => {
  live.start();
  vi.advanceTimersByTime(10_000);
  expect(FakeSocket.all).toHaveLength(1);
  vi.advanceTimersByTime(10_000);
  expect(FakeSocket.all).toHaveLength(2);
  newest().greet();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(FakeSocket.all).toHaveLength(2);
  expect(live.getState().line).toBe('live');
});

test('after sleep a stream that does not answer a ping is replaced at once', () => {
  live.start();
  newest().greet();
  const slept = newest();
  document.dispatchEvent(new Event('visibilitychange'));
  expect(slept.sent.at(-1)).toEqual({ ping: 1 });
  vi.advanceTimersByTime(3000);
  expect(newest()).not.toBe(slept);
  expect(live.getState().line).toBe('connecting');
  expect(onDead).toHaveBeenCalledOnce();
});

test('after sleep a stream that answers is kept', () => {
  live.start();
  newest().greet();
  document.dispatchEvent(new Event('visibilitychange'));
  newest().say({ pong: 1 });
  vi.advanceTimersByTime(3000);
  expect(FakeSocket.all).toHaveLength(1);
});

test('where no stream comes through it polls, and goes live when one does', async () => {
  const again = vi.fn();
  live.subscribe('yard', { onValue: () => {}, onAskAgain: again });
  poll.mockResolvedValueOnce({ next: 7 });
  live.start();
  newest().die();
  await vi.advanceTimersByTimeAsync(1000);
  newest().die();
  await vi.advanceTimersByTimeAsync(1);
  expect(live.getState().line).toBe('polling');
  expect(again).toHaveBeenCalledOnce();
  await vi.advanceTimersByTimeAsync(2000);
  expect(poll.mock.calls.at(-1)![0]).toBe(7);
  newest().greet();
  expect(live.getState().line).toBe('live');
  expect(poll.mock.calls.at(-1)![1].aborted).toBe(true);
});

test('when the yard is not there at all it says offline and keeps trying', async () => {
  poll.mockRejectedValue(new Error('refused'));
  live.start();
  newest().die();
  await vi.advanceTimersByTimeAsync(1000);
  newest().die();
  await vi.advanceTimersByTimeAsync(1);
  expect(live.getState().line).toBe('offline');
  const tries = FakeSocket.all.length;
  newest().die();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(FakeSocket.all.length).toBeGreaterThan(tries);
});

test('a resync asks again, a problem ends the topic with its reason', () => {
  const again = vi.fn();
  const problem = vi.fn();
  live.subscribe('events', { onValue: () => {}, onAskAgain: again });
  live.subscribe('task/9', { onValue: () => {}, onProblem: problem });
  live.start();
  newest().greet();
  newest().say({ topic: 'events', seq: 9000, resync: true });
  newest().say({ topic: 'task/9', seq: 9000, problem: { status: 404 } });
  expect(again).toHaveBeenCalledOnce();
  expect(problem).toHaveBeenCalledWith({ status: 404 });
});

test('another version of the yard is told', () => {
  live.start();
  newest().greet(1, '1');
  newest().die();
  vi.advanceTimersByTime(1000);
  newest().greet(1, '2');
  expect(versions).toEqual(['2']);
});

test('frames that are no JSON, and topics nobody has, change nothing', () => {
  live.start();
  newest().greet();
  newest().onmessage?.({ data: '{' } as MessageEvent);
  newest().say({ topic: 'task/404', seq: 1, value: {} });
  expect(live.getState().line).toBe('live');
});

test('forty topics are begun in frames that the yard takes', () => {
  for (let i = 0; i < 40; i++) live.subscribe(`series/${i}`, { onValue: () => {} });
  live.start();
  newest().greet();
  expect(newest().sent.map((frame) => (frame.sub as string[]).length)).toEqual([32, 8]);
});
