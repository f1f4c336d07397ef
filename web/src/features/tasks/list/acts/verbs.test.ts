import { expect, test } from 'vitest';
import { task } from '../testing';
import { applies } from './verbs';

test('a verb is offered only where the yard would take it', () => {
  const offered = (over: object) => (['cancel', 'hold', 'release', 'retry', 'remove'] as const).filter((verb) => applies(verb, task(1, over)));
  expect(offered({})).toEqual(['cancel', 'hold']);
  expect(offered({ held: true })).toEqual(['cancel', 'release']);
  expect(offered({ state: 'running' })).toEqual(['cancel']);
  expect(offered({ state: 'stopping' })).toEqual([]);
  expect(offered({ state: 'ended' })).toEqual(['retry', 'remove']);
});
