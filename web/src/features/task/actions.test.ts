import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import english from '@gen/en.json';
import chinese from '@gen/zh.json';
import type { Task } from '@/lib/api';
import { actsOf } from './actions';
import { classWord, outcomeView, remedyOf } from './outcome';

const task = (change: object) => ({ state: 'waiting', held: false, priority: 0, reason: null, outcome: null, ...change }) as unknown as Task;
const ended = (kind: string, more: object = {}) => task({ state: 'ended', outcome: { kind, class: '', exit_code: null, signal: null, failed_rank: null, core_dumped: false, core_file: null, reason: null, evidence: '', ...more } });

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
  it('has words for every class of failure that the yard knows, in both languages', () => {
    const classes = /kClasses\[\] = \{([^}]*)\}/.exec(readFileSync('../src/model/outcome.cc', 'utf8'))![1]!;
    const names = [...classes.matchAll(/"([a-z_]+)"/g)].map((found) => found[1]!);
    expect(names).toContain('cuda_fault');
    for (const catalogue of [english, chinese] as Record<string, string>[]) {
      const words = names.map((name) => classWord(name, ((id: string) => catalogue[id] ?? '') as never));
      for (const [at, word] of words.entries()) expect(word, names[at]).toMatch(/^[^_]+$/);
      expect(new Set(words).size).toBe(names.length);
    }
    expect(classWord('of_tomorrow', (() => '') as never)).toBe('of_tomorrow');
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
