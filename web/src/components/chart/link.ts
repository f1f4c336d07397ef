// A cursor that several charts share: they agree on an x, whatever range each of them shows.
export interface LinkedChart {
  /** Show the cursor at `x`; null: nowhere. */
  follow(x: number | null): void;
}

const groups = new Map<string, Set<LinkedChart>>();

/** Joins the charts of a key; the answer leaves them again. */
export function link(key: string, chart: LinkedChart): () => void {
  const group = groups.get(key) ?? new Set();
  groups.set(key, group.add(chart));
  return () => {
    group.delete(chart);
    if (group.size === 0 && groups.get(key) === group) groups.delete(key);
  };
}

/** Tells the others. */
export function shareCursor(key: string, from: LinkedChart, x: number | null) {
  for (const chart of groups.get(key) ?? []) if (chart !== from) chart.follow(x);
}

/** How many keys are in use; for tests of leaks. */
export const linkedGroups = () => groups.size;
