import { expect, test } from 'vitest';
import type { TaskDetail } from '@/lib/api';
import { actsOf } from './actions';
import { actsAtHand } from './outcome';

const task = (change: object) => ({ state: 'waiting', held: false, outcome: null, attempts: [], ...change }) as unknown as TaskDetail;
const ended = (kind: string) => task({ state: 'ended', outcome: { kind, class: '', exit_code: 1, signal: null, reason: null, evidence: '' } });

test('what stands with why it waits or how it ended is all that the head need not show', () => {
  expect(actsAtHand(task({}))).toEqual(['first']);
  expect(actsAtHand(task({ held: true }))).toEqual(['release']);
  expect(actsAtHand(task({ state: 'running' }))).toEqual([]);
  expect(actsAtHand(ended('failed'))).toEqual(['retry', 'clone']);
  expect(actsAtHand(ended('succeeded'))).toEqual([]);
  for (const each of [task({}), task({ held: true }), ended('failed'), ended('cancelled')]) {
    for (const act of actsAtHand(each)) expect(actsOf(each)).toContain(act);
  }
});
