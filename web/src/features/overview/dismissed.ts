// Failures that a person has seen, by the uid of the task; kept in this browser.
import { useCallback, useSyncExternalStore } from 'react';

const kept = 'trainyard.dismissed';
const kMost = 500;
const listeners = new Set<() => void>();
let known: { text: string | null; uids: ReadonlySet<string> } = { text: null, uids: new Set() };

function read(): ReadonlySet<string> {
  let text: string | null = null;
  try {
    text = localStorage.getItem(kept);
  } catch {
    return known.uids; // storage is forbidden here: until the page is closed
  }
  if (text !== known.text) {
    let uids: unknown;
    try {
      uids = JSON.parse(text ?? '[]');
    } catch {
      uids = [];
    }
    known = { text, uids: new Set(Array.isArray(uids) ? uids.filter((uid) => typeof uid === 'string') : []) };
  }
  return known.uids;
}

function write(uids: readonly string[]) {
  const text = JSON.stringify(uids.slice(-kMost));
  try {
    localStorage.setItem(kept, text);
  } catch {
    known = { text: known.text, uids: new Set(uids) };
  }
  for (const listener of [...listeners]) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  window.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
  };
}

export function useDismissed() {
  const dismissed = useSyncExternalStore(subscribe, read);
  const dismiss = useCallback((uids: readonly string[]) => write([...read(), ...uids]), []);
  return { dismissed, dismiss };
}
