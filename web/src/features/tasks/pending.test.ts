import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { task } from './list/testing';
import { beginAct, endAct, Pending, pendingAct } from './pending';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('what was asked for is under way until it stands differently', () => {
  const pending = new Pending();
  pending.begin('task/1', 'hold', 'waiting');
  expect(pending.of('task/1', 'waiting')).toBe('hold');
  expect(pending.of('task/1', 'held')).toBeNull();
  expect(pending.of('task/2', 'waiting')).toBeNull();
});

test('a button comes back after half a minute though nothing has changed', () => {
  const pending = new Pending();
  const told = vi.fn();
  pending.subscribe(told);
  pending.begin('task/1', 'cancel', 'running');
  vi.advanceTimersByTime(29_000);
  expect(pending.of('task/1', 'running')).toBe('cancel');
  vi.advanceTimersByTime(2000);
  expect(pending.of('task/1', 'running')).toBeNull();
  expect(told).toHaveBeenCalledTimes(2);
});

test('a second wish has half a minute of its own', () => {
  const pending = new Pending();
  pending.begin('task/1', 'hold', 'a');
  vi.advanceTimersByTime(20_000);
  pending.begin('task/1', 'release', 'b');
  vi.advanceTimersByTime(20_000);
  expect(pending.of('task/1', 'b')).toBe('release');
});

test('whoever asked is told when the button comes back unseen, and is not when it has come true', () => {
  const pending = new Pending();
  const late = vi.fn();
  pending.begin('task/1', 'cancel', 'running', late);
  pending.end('task/1');
  vi.advanceTimersByTime(40_000);
  expect(late).not.toHaveBeenCalled();
  pending.begin('task/1', 'cancel', 'running', late);
  vi.advanceTimersByTime(40_000);
  expect(late).toHaveBeenCalledTimes(1);
});

test.each([
  ['cancel', { state: 'running' }, { state: 'stopping' }],
  ['cancel', {}, { state: 'ended' }],
  ['kill', { state: 'stopping' }, { state: 'ended' }],
  ['hold', {}, { held: true }],
  ['hold', {}, { state: 'running' }],
  ['release', { held: true }, {}],
  ['retry', { state: 'ended' }, { state: 'waiting' }],
  ['priority', {}, { priority: 100 }],
] as const)('%s is under way until the task shows that it is done, and not ended by what is none of its doing', (act, from, to) => {
  beginAct(task(7, from), act);
  expect(pendingAct(task(7, from))).toBe(act);
  expect(pendingAct(task(7, { ...from, attempt: 3, tags: ['x'] }))).toBe(act);
  expect(pendingAct(task(8, from))).toBeNull();
  expect(pendingAct(task(7, to))).toBeNull();
  endAct(7);
});

test('a task that begins to start while it is being cancelled is still being cancelled', () => {
  beginAct(task(7), 'cancel');
  expect(pendingAct(task(7, { state: 'preparing' }))).toBe('cancel');
  endAct(7);
});
