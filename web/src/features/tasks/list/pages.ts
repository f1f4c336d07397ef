// A list of tasks in pages, read by cursors, as a value: what is loaded, what of it may be out of date, and how it is read anew
// without reading everything. Only the first page and those in view are asked for; the rest waits until it is looked at.
import type { Task } from '@/lib/api';

export interface Cursor {
  after?: number;
  before?: number;
}
export interface Page {
  cursor: Cursor;
  items: Task[];
  /** Read since the list was last told to have changed. */
  fresh: boolean;
}
export interface Pages {
  pages: Page[];
  /** What follows the last page; null at the end of the list. */
  next: Cursor | null;
}
export interface Answer {
  items: Task[];
  next: string | null;
}
type FetchPage = (cursor: Cursor) => Promise<Answer>;
/** Rows in view, by their numbers in the whole list. */
export interface View {
  first: number;
  last: number;
}

/** `after=12` of an answer as the cursor of the next question. */
export function cursorOf(next: string | null): Cursor | null {
  const [name, value] = next?.split('=') ?? [];
  return (name === 'after' || name === 'before') && value ? { [name]: Number(value) } : null;
}

/** All rows, each task once: where two pages tell of it, the one that was read later is believed. */
export function rowsOf(list: Pages | undefined): Task[] {
  if (!list) return [];
  const owner = new Map<number, Page>();
  for (const page of [...list.pages].sort((a, b) => Number(b.fresh) - Number(a.fresh)))
    for (const task of page.items) if (!owner.has(task.id)) owner.set(task.id, page);
  const rows: Task[] = [];
  for (const page of list.pages)
    for (const task of page.items) {
      if (owner.get(task.id) !== page) continue;
      owner.delete(task.id);
      rows.push(task);
    }
  return rows;
}

/** The numbers of the pages that hold rows of a view; the first page is always among them. */
function pagesInView(list: Pages, view: View): number[] {
  const found = [0];
  let row = 0;
  list.pages.forEach((page, number) => {
    const end = row + page.items.length;
    if (number > 0 && row <= view.last && end > view.first) found.push(number);
    row = end;
  });
  return found;
}

/** Whether something in view is out of date. */
export const isStale = (list: Pages, view: View) => pagesInView(list, view).some((number) => !list.pages[number]?.fresh);

/** The list told to have changed: nothing of it is sure any more. */
const staled = (list: Pages): Pages => ({ ...list, pages: list.pages.map((page) => ({ ...page, fresh: false })) });

// A task that has not changed stays the same object, so that its row is not drawn again.
function sameObjects(items: Task[], known: Map<number, Task>): Task[] {
  return items.map((task) => {
    const before = known.get(task.id);
    return before && JSON.stringify(before) === JSON.stringify(task) ? before : task;
  });
}

/** Reads the first page and those in view; the others are kept as they were. */
export async function refreshed(list: Pages | undefined, view: View, fetchPage: FetchPage): Promise<Pages> {
  const known = new Map((list?.pages ?? []).flatMap((page) => page.items).map((task) => [task.id, task]));
  const front = new Set<number>();
  const read = async (cursor: Cursor) => {
    const answer = await fetchPage(cursor);
    return { page: { cursor, items: sameObjects(answer.items, known), fresh: true }, next: cursorOf(answer.next) };
  };
  if (!list || list.pages.length === 0) {
    const { page, next } = await read({});
    return { pages: [page], next };
  }
  const pages = staled(list).pages;
  const wanted = pagesInView(list, view);
  let next = list.next;
  for (let i = 0; i < wanted.length; i++) {
    const number = wanted[i]!;
    const got = await read(number === 0 ? {} : pages[number]!.cursor);
    if (number === 0) for (const task of got.page.items) front.add(task.id);
    const beginsAnew = number > 0 && got.page.items.some((task) => front.has(task.id));
    if (beginsAnew && wanted.length <= number) {
      // The task that the cursor names waits no longer, so the yard began at the front: go through the pages before.
      wanted.splice(0, wanted.length, ...Array.from({ length: number + 1 }, (_, at) => at));
      i = 0;
      continue;
    }
    pages[number] = got.page;
    if (got.next === null) {
      pages.length = number + 1;
      return { pages, next: null };
    }
    if (number === pages.length - 1) next = got.next;
    else pages[number + 1] = { ...pages[number + 1]!, cursor: got.next };
  }
  return { pages, next };
}

/** The list with the page that follows. */
export async function extended(list: Pages, fetchPage: FetchPage): Promise<Pages> {
  if (!list.next) return list;
  const cursor = list.next;
  const answer = await fetchPage(cursor);
  return { pages: [...list.pages, { cursor, items: answer.items, fresh: true }], next: cursorOf(answer.next) };
}

/** The list with its rows in another order, in pages of the same sizes. */
export function reordered(list: Pages, rows: readonly Task[]): Pages {
  let at = 0;
  const pages = list.pages.map((page, number) => {
    const end = number === list.pages.length - 1 ? rows.length : Math.min(rows.length, at + page.items.length);
    const items = rows.slice(at, end);
    at = end;
    return { ...page, items };
  });
  return { ...list, pages };
}
