import { expect, test, vi } from 'vitest';
import { cursorOf, extended, isStale, refreshed, reordered, rowsOf, type Cursor, type Pages } from './pages';
import { task } from './testing';

const kPage = 3;
/** A queue of ids that is asked as the yard is: a cursor that waits no longer begins at the front. */
function yardOf(ids: number[]) {
  return vi.fn(async ({ after }: Cursor) => {
    const from = after === undefined ? 0 : ids.indexOf(after) + 1;
    const items = ids.slice(from, from + kPage).map((id) => task(id));
    return { items, next: from + kPage < ids.length ? `after=${items.at(-1)!.id}` : null };
  });
}
const idsOf = (list: Pages) => rowsOf(list).map(({ id }) => id);
const loaded = async (ids: number[], pages: number) => {
  let list = await refreshed(undefined, { first: 0, last: 0 }, yardOf(ids));
  for (let i = 1; i < pages; i++) list = await extended(list, yardOf(ids));
  return list;
};

test('a cursor is read from the words of the yard, and nothing from others', () => {
  expect(cursorOf('after=12')).toEqual({ after: 12 });
  expect(cursorOf('before=40')).toEqual({ before: 40 });
  expect(cursorOf(null)).toBeNull();
  expect(cursorOf('limit=3')).toBeNull();
});

test('pages follow each other to the end of the list', async () => {
  const list = await loaded([1, 2, 3, 4, 5, 6, 7], 3);
  expect(idsOf(list)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(list.next).toBeNull();
  expect(await extended(list, yardOf([]))).toBe(list);
});

test('a refresh asks for the first page and those in view alone', async () => {
  const ids = Array.from({ length: 15 }, (_, i) => i + 1);
  const list = await loaded(ids, 5);
  const yard = yardOf(ids);
  const next = await refreshed(list, { first: 9, last: 10 }, yard);
  expect(yard.mock.calls.map(([cursor]) => cursor)).toEqual([{}, { after: 9 }]);
  expect(next.pages.map(({ fresh }) => fresh)).toEqual([true, false, false, true, false]);
  expect(isStale(next, { first: 9, last: 10 })).toBe(false);
  expect(isStale(next, { first: 4, last: 5 })).toBe(true);
});

test('a task that has come to the front is shown once', async () => {
  const list = await loaded([1, 2, 3, 4, 5, 6, 7, 8, 9], 3);
  const next = await refreshed(list, { first: 0, last: 2 }, yardOf([5, 1, 2, 3, 4, 6, 7, 8, 9]));
  expect(idsOf(next)).toEqual([5, 1, 2, 4, 6, 7, 8, 9]); // 3 comes back when its page is looked at
  expect(new Set(idsOf(next)).size).toBe(idsOf(next).length);
});

test('a cursor that has left the queue does not repeat the front', async () => {
  const list = await loaded([1, 2, 3, 4, 5, 6, 7, 8, 9], 3);
  const yard = yardOf([1, 2, 3, 4, 5, 7, 8, 9]); // 6, the cursor of the third page, runs now
  const next = await refreshed(list, { first: 6, last: 8 }, yard);
  expect(idsOf(next)).toEqual([1, 2, 3, 4, 5, 7, 8, 9]);
});

test('a list that has become short ends where the yard says', async () => {
  const list = await loaded([1, 2, 3, 4, 5, 6, 7, 8, 9], 3);
  const next = await refreshed(list, { first: 0, last: 8 }, yardOf([7, 8]));
  expect(idsOf(next)).toEqual([7, 8]);
  expect(next.next).toBeNull();
});

test('a task that has not changed stays the same object', async () => {
  const list = await loaded([1, 2, 3], 1);
  const next = await refreshed(list, { first: 0, last: 2 }, yardOf([2, 1, 3]));
  expect(rowsOf(next)[0]).toBe(rowsOf(list)[1]);
});

test('rows in another order keep the pages as they were cut', async () => {
  const list = await loaded([1, 2, 3, 4, 5], 2);
  const next = reordered(list, [...rowsOf(list)].reverse());
  expect(next.pages.map(({ items }) => items.map(({ id }) => id))).toEqual([[5, 4, 3], [2, 1]]);
});
