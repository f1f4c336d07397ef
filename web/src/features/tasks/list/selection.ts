// Which rows are chosen: by number, so that a choice stays with its task when rows come and go.
import { createContext, use, useCallback, useMemo, useRef, useState } from 'react';

interface Row {
  id: number;
}
interface Choice {
  ids: ReadonlySet<number>;
  toggle: (id: number, range: boolean) => void;
}
export const SelectionContext = createContext<Choice | null>(null);
export function useChoice(): Choice {
  const choice = use(SelectionContext);
  if (!choice) throw new Error('useChoice outside of a selection');
  return choice;
}

/** The ids from one row to another, both included, in the order of the rows. */
export function between(rows: readonly Row[], from: number, to: number): number[] {
  const [a, b] = [rows.findIndex((row) => row.id === from), rows.findIndex((row) => row.id === to)];
  if (a < 0 || b < 0) return [to];
  return rows.slice(Math.min(a, b), Math.max(a, b) + 1).map((row) => row.id);
}

export function useSelection<T extends Row>(rows: readonly T[]) {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const anchor = useRef<number | null>(null);
  const shown = useRef(rows);
  shown.current = rows;
  const toggle = useCallback((id: number, range: boolean) => {
    setChosen((now) => {
      const next = new Set(now);
      if (range && anchor.current !== null) for (const each of between(shown.current, anchor.current, id)) next.add(each);
      else if (!next.delete(id)) next.add(id);
      return next;
    });
    anchor.current = id;
  }, []);
  const clear = useCallback(() => setChosen(new Set()), []);
  const all = useCallback(() => setChosen(new Set(shown.current.map((row) => row.id))), []);
  // What a filter hides is not acted on, and says so by not being counted.
  const tasks = useMemo(() => (chosen.size === 0 ? [] : rows.filter((row) => chosen.has(row.id))), [rows, chosen]);
  const value = useMemo<Choice>(() => ({ ids: chosen, toggle }), [chosen, toggle]);
  return useMemo(() => ({ value, ids: chosen, tasks, toggle, clear, all }), [value, chosen, tasks, toggle, clear, all]);
}
export type Selection<T extends Row> = ReturnType<typeof useSelection<T>>;
