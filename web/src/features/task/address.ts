// The part of the address behind "?", in which several parts of this page keep what is looked at.

/** Changes it in place, without a step in the history. */
export function replaceSearch(change: (search: URLSearchParams) => URLSearchParams) {
  const next = change(new URLSearchParams(location.search)).toString();
  const url = location.pathname + (next ? `?${next}` : '') + location.hash;
  if (url !== location.pathname + location.search + location.hash) history.replaceState(history.state, '', url);
}
