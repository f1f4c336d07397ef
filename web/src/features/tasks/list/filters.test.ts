import { expect, test } from 'vitest';
import { hasState, named, readFilters, withLive, writeFilters } from './filters';
import { between } from './selection';
import { ended, task } from './testing';

test('the address says what is shown, and nonsense in it shows all', () => {
  expect(readFilters(new URLSearchParams('state=failed&tag=nightly&name=lora'))).toEqual({ state: 'failed', tag: 'nightly', name: 'lora' });
  expect(readFilters(new URLSearchParams('state=__proto__'))).toEqual({ state: 'all', tag: '', name: '' });
});

test('what is as usual does not stand in the address, and what others wrote there stays', () => {
  const query = writeFilters(new URLSearchParams('state=failed&tag=a&other=1'), { state: 'all', tag: 'b&c', name: '' });
  expect(query.toString()).toBe('tag=b%26c&other=1');
});

test('a running task that has begun to stop still runs for the list', () => {
  expect(hasState(task(1, { state: 'stopping' }), 'running')).toBe(true);
  expect(hasState(task(1, { state: 'running', frozen: true }), 'running')).toBe(true);
  expect(hasState(task(1, { held: true }), 'held')).toBe(true);
  expect(hasState(task(1, { held: true }), 'waiting')).toBe(true);
  expect(hasState(ended(1, 'failed'), 'failed')).toBe(true);
  expect(hasState(ended(1, 'failed'), 'succeeded')).toBe(false);
});

test('what went wrong is what failed, timed out or was lost', () => {
  const of = (kind: string) => ended(1, 'failed', { outcome: { ...ended(1, 'failed').outcome!, kind: kind as 'failed' } });
  expect(['failed', 'timeout', 'lost', 'succeeded', 'cancelled', 'preempted'].map((kind) => hasState(of(kind), 'bad'))).toEqual([true, true, true, false, false, false]);
  expect(hasState(task(1), 'bad')).toBe(false);
});

test('words are found in names in any case and order, and numbers too', () => {
  const rows = [task(1, { name: 'Lora-SDXL-07' }), task(2, { name: '中文微调' })];
  expect(named(rows, ' sdxl lora ').map(({ id }) => id)).toEqual([1]);
  expect(named(rows, '微调').map(({ id }) => id)).toEqual([2]);
  expect(named(rows, '#2').map(({ id }) => id)).toEqual([2]);
  expect(named(rows, '  ')).toBe(rows);
});

test('rows show what the stream says of those that run, and ended ones stay ended', () => {
  const live = [task(1, { state: 'running', time_left_s: 5 }), task(2, { state: 'running' })];
  const rows = withLive([task(1), ended(2, 'succeeded')], live);
  expect(rows.map(({ state }) => state)).toEqual(['running', 'ended']);
});

test('a range is chosen in the order of the rows, from either side', () => {
  const rows = [task(9), task(4), task(7)];
  expect(between(rows, 9, 7)).toEqual([9, 4, 7]);
  expect(between(rows, 7, 4)).toEqual([4, 7]);
  expect(between(rows, 1, 4)).toEqual([4]);
});
