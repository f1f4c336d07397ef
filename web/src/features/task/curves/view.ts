// How curves are looked at. The address holds it, so that a link shows the same; what was chosen last is where the next
// task begins.
import type { XKind } from '../api';

export type Scale = 'linear' | 'log' | 'symlog';
export interface View {
  x: XKind;
  scale: Scale;
  smooth: number; // 0 to 0.99
  older: boolean; // earlier runs behind the newest
  from: number | null; // of x, both or none
  to: number | null;
  find: string;
  only: string[]; // titles of the charts to show; all when empty
}

export const firstView: View = { x: 'step', scale: 'linear', smooth: 0, older: true, from: null, to: null, find: '', only: [] };

const number = (text: string | null): number | null => {
  if (text === null || text.trim() === '') return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
};
const oneOf = <T extends string>(text: string | null, words: readonly T[], otherwise: T): T => (words.includes(text as T) ? (text as T) : otherwise);

/** The view of an address; what it does not say, or says wrongly, is as in `base`. */
export function viewOf(search: URLSearchParams, base: View): View {
  const smooth = number(search.get('smooth'));
  const [from, to] = [number(search.get('from')), number(search.get('to'))];
  const zoomed = from !== null && to !== null && from < to;
  const older = search.get('older');
  return {
    x: oneOf(search.get('x'), ['step', 'time', 'elapsed'], base.x),
    scale: oneOf(search.get('scale'), ['linear', 'log', 'symlog'], base.scale),
    smooth: smooth === null ? base.smooth : Math.round(Math.min(0.99, Math.max(0, smooth)) * 100) / 100,
    older: older === null ? base.older : older !== '0',
    from: zoomed ? from : null,
    to: zoomed ? to : null,
    find: (search.get('find') ?? '').slice(0, 200),
    only: search.getAll('chart').slice(0, 50),
  };
}

/** Writes a view into an address that may say other things too. Only what differs from the first view is said. */
export function writeView(view: View, search: URLSearchParams): URLSearchParams {
  const next = new URLSearchParams(search);
  const put = (name: string, value: string, usual: string) => (value === usual ? next.delete(name) : next.set(name, value));
  put('x', view.x, firstView.x);
  put('scale', view.scale, firstView.scale);
  put('smooth', String(view.smooth), '0');
  put('older', view.older ? '1' : '0', '1');
  put('from', view.from === null ? '' : String(view.from), '');
  put('to', view.to === null ? '' : String(view.to), '');
  put('find', view.find, '');
  next.delete('chart');
  for (const title of view.only) next.append('chart', title);
  return next;
}

const kept = 'trainyard.curves';

/** What was chosen last: how, not where. */
export function keptView(): View {
  try {
    return { ...viewOf(new URLSearchParams(localStorage.getItem(kept) ?? ''), firstView), from: null, to: null, find: '', only: [] };
  } catch {
    return firstView;
  }
}
export function keepView({ x, scale, smooth, older }: View) {
  try {
    localStorage.setItem(kept, writeView({ ...firstView, x, scale, smooth, older }, new URLSearchParams()).toString());
  } catch {
    // full or forbidden
  }
}
