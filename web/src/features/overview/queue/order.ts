// Places in the queue: how a row that is moved lands, and how the yard is told of it.
type Place = { first: true } | { before: number } | { after: number };

/** The list with the item at `from` put where it is number `to`. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const next = [...list];
  const [item] = next.splice(from, 1);
  if (item === undefined) return next;
  next.splice(Math.min(Math.max(to, 0), next.length), 0, item);
  return next;
}

/**
 * How the yard is told that an item has its new place. It takes the priority of the neighbour that is named, so that is the
 * one it was moved past: the lower one on the way up, the upper one on the way down.
 */
export function placeOf(ids: readonly number[], id: number, up: boolean): Place | null {
  const at = ids.indexOf(id);
  if (at < 0 || ids.length < 2) return null;
  if (at === 0) return { first: true };
  const below = ids[at + 1];
  if (up && below !== undefined) return { before: below };
  return { after: ids[at - 1]! };
}

/** The gap (0: above the first row) that a pointer at `y` px within the rows points to. */
export const gapAt = (y: number, height: number, count: number) => Math.min(count, Math.max(0, Math.round(y / height)));

/** Where a row dropped into a gap ends up; its own two gaps leave it where it is. */
export const landing = (from: number, gap: number) => (gap > from ? gap - 1 : gap);

/** The place of each row among those that may start: 1, 2, …; null for held ones. */
export function placesOf(rows: readonly { held: boolean }[]): (number | null)[] {
  let place = 0;
  return rows.map((row) => (row.held ? null : ++place));
}

/** The list with one item right behind another, or at the front (null); it stays where it is when either is gone. */
export function movedBehind<T extends { id: number }>(list: readonly T[], id: number, above: number | null): T[] {
  const item = list.find((each) => each.id === id);
  const rest = list.filter((each) => each.id !== id);
  const at = above === null ? -1 : rest.findIndex((each) => each.id === above);
  if (!item || (above !== null && at < 0)) return [...list];
  rest.splice(at + 1, 0, item);
  return rest;
}
