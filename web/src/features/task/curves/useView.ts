import { useCallback, useEffect, useState } from 'react';
import { replaceSearch } from '../address';
import { firstView, keepView, keptView, viewOf, writeView, type View } from './view';

const kPause = 250; // ms: browsers refuse many changes of the address in a row

/** How curves are looked at here: first as the address says, else as chosen last. */
export function useView(): [View, (change: Partial<View>) => void] {
  const [view, setView] = useState(() => {
    const search = new URLSearchParams(location.search);
    const said = ['x', 'scale', 'smooth', 'older', 'from', 'find', 'chart'].some((name) => search.has(name));
    return viewOf(search, said ? firstView : keptView());
  });
  const set = useCallback((change: Partial<View>) => setView((before) => ({ ...before, ...change })), []);
  useEffect(() => {
    const timer = setTimeout(() => {
      replaceSearch((search) => writeView(view, search));
      keepView(view);
    }, kPause);
    return () => clearTimeout(timer);
  }, [view]);
  return [view, set];
}
