import { expect, test } from 'vitest';
import { gapAt, landing, moved, movedBehind, placeOf, placesOf } from './order';

test('a row is put where it is dropped and the others keep their order', () => {
  expect(moved([1, 2, 3, 4], 3, 0)).toEqual([4, 1, 2, 3]);
  expect(moved([1, 2, 3, 4], 0, 2)).toEqual([2, 3, 1, 4]);
  expect(moved([1, 2, 3, 4], 1, 99)).toEqual([1, 3, 4, 2]);
});

test('the yard is told of the neighbour that the row was moved past', () => {
  expect(placeOf([1, 4, 2, 3], 4, true)).toEqual({ before: 2 });
  expect(placeOf([2, 3, 1, 4], 1, false)).toEqual({ after: 3 });
  expect(placeOf([4, 1, 2], 4, true)).toEqual({ first: true });
  expect(placeOf([1, 2, 4], 4, false)).toEqual({ after: 2 });
  expect(placeOf([4], 4, true)).toBeNull();
  expect(placeOf([1, 2], 9, true)).toBeNull();
});

test('a pointer points to the nearest gap, and never outside of the list', () => {
  expect([-50, 0, 25, 27, 77, 79, 9999].map((y) => gapAt(y, 52, 4))).toEqual([0, 0, 0, 1, 1, 2, 4]);
});

test('the two gaps beside a row leave it where it is', () => {
  expect([0, 1, 2, 3, 4].map((gap) => landing(2, gap))).toEqual([0, 1, 2, 2, 3]);
});

test('a move follows its neighbour when the list has changed meanwhile', () => {
  const list = [{ id: 9 }, { id: 1 }, { id: 2 }, { id: 3 }];
  expect(movedBehind(list, 3, 1).map(({ id }) => id)).toEqual([9, 1, 3, 2]);
  expect(movedBehind(list, 3, null).map(({ id }) => id)).toEqual([3, 9, 1, 2]);
  expect(movedBehind(list, 3, 77).map(({ id }) => id)).toEqual([9, 1, 2, 3]);
  expect(movedBehind(list, 77, 1).map(({ id }) => id)).toEqual([9, 1, 2, 3]);
});

test('held tasks have no place, and those behind them are counted past them', () => {
  expect(placesOf([{ held: false }, { held: true }, { held: false }])).toEqual([1, null, 2]);
});
