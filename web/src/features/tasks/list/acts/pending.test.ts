import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { task } from '../testing';
import { Pending, taskStanding } from './pending';
import { applies } from './verbs';

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

test('every change that a verb makes is seen in how a task stands', () => {
  const waiting = task(1);
  const standings = [waiting, { ...waiting, held: true }, { ...waiting, priority: 5 }, { ...waiting, state: 'stopping' as const }, { ...waiting, attempt: 2 }].map(taskStanding);
  expect(new Set(standings).size).toBe(standings.length);
});

test('a verb is offered only where the yard would take it', () => {
  const offered = (over: object) => (['cancel', 'hold', 'release', 'retry', 'remove'] as const).filter((verb) => applies(verb, task(1, over)));
  expect(offered({})).toEqual(['cancel', 'hold']);
  expect(offered({ held: true })).toEqual(['cancel', 'release']);
  expect(offered({ state: 'running' })).toEqual(['cancel']);
  expect(offered({ state: 'stopping' })).toEqual([]);
  expect(offered({ state: 'ended' })).toEqual(['retry', 'remove']);
});
