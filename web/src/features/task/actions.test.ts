import { describe, expect, it } from 'vitest';
import type { Task } from '@/lib/api';
import { actsOf, isDone, kLock, lockOf, pendingOf, type Act } from './actions';
import { outcomeView, remedyOf } from './outcome';

const task = (change: object) => ({ state: 'waiting', held: false, priority: 0, reason: null, outcome: null, ...change }) as unknown as Task;
const ended = (kind: string, more: object = {}) => task({ state: 'ended', outcome: { kind, class: '', exit_code: null, signal: null, core_dumped: false, core_file: null, reason: null, evidence: '', ...more } });

describe('what can be done', () => {
  it('goes by how the task is', () => {
    expect(actsOf(task({}))).toEqual(['first', 'hold', 'clone', 'cancel']);
    expect(actsOf(task({ held: true }))).toEqual(['release', 'clone', 'cancel']);
    expect(actsOf(task({ state: 'running' }))).toEqual(['clone', 'cancel']);
    expect(actsOf(task({ state: 'stopping' }))).toEqual(['clone', 'kill']);
    expect(actsOf(ended('failed'))).toEqual(['retry', 'clone', 'remove']);
    expect(actsOf(ended('succeeded'))).toEqual(['clone', 'remove']);
  });
});

describe('the lock of what was asked', () => {
  const before = task({ state: 'running' });
  it.each<[Act, object, object]>([
    ['cancel', { state: 'running' }, { state: 'stopping' }],
    ['cancel', {}, { state: 'ended' }],
    ['kill', { state: 'stopping' }, { state: 'ended' }],
    ['hold', {}, { held: true }],
    ['release', { held: true }, {}],
    ['retry', { state: 'ended' }, { state: 'waiting' }],
    ['priority', {}, { priority: 100 }],
  ])('%s opens only when the task shows that it is done', (act, from, to) => {
    const pending = pendingOf(act, task(from), 1000);
    expect(lockOf(pending, task(from), 1500)).toBe(act);
    expect(lockOf(pending, task(to), 1500)).toBe(null);
  });
  it('opens after half a minute whatever happens', () => {
    const pending = pendingOf('cancel', before, 1000);
    expect(lockOf(pending, before, 1000 + kLock - 1)).toBe('cancel');
    expect(lockOf(pending, before, 1000 + kLock)).toBe(null);
  });
  it('does not wait for what cannot be seen', () => {
    expect(isDone(pendingOf('first', task({}), 0), task({}))).toBe(true);
  });
  it('is open while nothing was asked', () => {
    expect(lockOf(null, before, 0)).toBe(null);
  });
});

describe('how an end is told', () => {
  const reason = (id: string) => ({ id, args: {}, text: 'Because.' });
  it('is nothing while the task is open', () => {
    expect(outcomeView({ ...task({ state: 'running' }), attempts: [] })).toBe(null);
  });
  it('has its reason, its figures and the runs before', () => {
    const run = (number: number, text: string | null) => ({ number, outcome: text === null ? null : { reason: { id: 'a.b', args: {}, text } } });
    const view = outcomeView({ ...ended('failed', { class: 'script', exit_code: 1, reason: reason('outcome.script_exception'), evidence: 'KeyError' }), attempts: [run(1, 'First.'), run(2, null), run(3, 'Third.'), run(4, 'Last.')] as never });
    expect(view).toMatchObject({ tone: 'bad', reason: 'Because.', kind: 'script', exitCode: 1, signal: null, evidence: 'KeyError', attempt: 4, remedy: 'change' });
    expect(view!.earlier).toEqual([{ number: 3, reason: 'Third.' }, { number: 1, reason: 'First.' }]);
  });
  it('offers again where that can help, and a change where it cannot', () => {
    const remedy = (kind: string, more: object = {}) => remedyOf(ended(kind, more).outcome!);
    expect(remedy('succeeded')).toBe('none');
    expect(['lost', 'timeout', 'cancelled', 'preempted'].map((kind) => remedy(kind))).toEqual(['retry', 'retry', 'retry', 'retry']);
    expect(remedy('failed', { class: 'data_loading' })).toBe('retry');
    expect(remedy('failed', { reason: reason('outcome.killed_9') })).toBe('retry');
    expect(remedy('failed', { class: 'script', reason: reason('outcome.script_exception') })).toBe('change');
    expect(remedy('failed', { reason: reason('outcome.device_oom') })).toBe('change');
  });
});
