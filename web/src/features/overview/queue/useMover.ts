// Moves rows of the queue: at once on the page, then in the yard. Steps of one row that follow quickly become one wish, and
// nothing is read while the page is ahead of the yard.
import { useCallback, useEffect, useRef, useState } from 'react';
import { usePrioritise } from '@/features/tasks';
import { detailOf, type Task } from '@/lib/api';
import { useWords } from '@/lib/words';
import { moved, movedBehind, placeOf } from './order';

const kPause = 300;

interface Under {
  id: number;
  from: number;
  timer: ReturnType<typeof setTimeout>;
}
interface List {
  rows: readonly Task[];
  reorder: (change: (rows: Task[]) => Task[]) => void;
  pause: (on: boolean) => void;
}

export function useMover(list: List, refuse: (text: string) => void) {
  const { t } = useWords();
  const { mutateAsync: prioritise } = usePrioritise();
  const { reorder, pause } = list;
  const rows = useRef(list.rows);
  rows.current = list.rows;
  const under = useRef<Under | null>(null);
  const sent = useRef(0);
  const [moving, setMoving] = useState<ReadonlySet<number>>(new Set());

  const flush = useCallback(async () => {
    const wish = under.current;
    if (!wish) return;
    clearTimeout(wish.timer);
    under.current = null;
    const ids = rows.current.map((row) => row.id);
    const at = ids.indexOf(wish.id);
    const place = at === wish.from ? null : placeOf(ids, wish.id, at < wish.from);
    sent.current++;
    try {
      if (place) await prioritise({ tasks: [wish.id], ...place });
    } catch (error) {
      refuse(detailOf(error, t('app.unreachable')));
    }
    sent.current--;
    const next = under.current as Under | null; // asked for while that was on its way
    if (next?.id !== wish.id)
      setMoving((now) => {
        const others = new Set(now);
        others.delete(wish.id);
        return others;
      });
    if (sent.current === 0 && !next) pause(false);
  }, [prioritise, refuse, t, pause]);

  /** Puts a row where it is number `to` of the rows that are shown. */
  const move = useCallback(
    (shown: readonly Task[], id: number, to: number) => {
      const from = shown.findIndex((row) => row.id === id);
      if (from < 0 || to < 0 || to >= shown.length || from === to) return false;
      if (under.current && under.current.id !== id) void flush();
      pause(true);
      const above = moved(shown, from, to)[to - 1]?.id ?? null;
      reorder((now) => movedBehind(now, id, above));
      clearTimeout(under.current?.timer);
      under.current = { id, from: under.current?.from ?? from, timer: setTimeout(() => void flush(), kPause) };
      setMoving((now) => new Set(now).add(id));
      return true;
    },
    [flush, pause, reorder],
  );
  // Whoever leaves the page has still asked for it.
  useEffect(() => () => void flush(), [flush]);

  return { move, moving };
}
