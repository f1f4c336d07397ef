// Live values in components: a query that is read once by a call and kept true by its topic.
import { useQuery, useQueryClient, type QueryKey, type UseQueryOptions } from '@tanstack/react-query';
import { createContext, use, useEffect, useRef, useSyncExternalStore } from 'react';
import type { Live, LiveState } from './live';

const Context = createContext<Live | null>(null);
export const LiveProvider = Context;

export function useLiveStream(): Live {
  const live = use(Context);
  if (!live) throw new Error('useLiveStream outside of LiveProvider');
  return live;
}

export function useLiveState(): LiveState {
  const live = useLiveStream();
  return useSyncExternalStore(live.onState, live.getState);
}

/** Each value of a topic; null for none now. A changed handler needs no new subscription. */
export function useTopic(topic: string | null, onValue: (value: unknown) => void, onAskAgain?: () => void) {
  const live = useLiveStream();
  const kept = useRef({ onValue, onAskAgain });
  useEffect(() => {
    kept.current = { onValue, onAskAgain };
  });
  useEffect(() => {
    if (topic === null) return;
    return live.subscribe(topic, {
      onValue: (value) => kept.current.onValue(value),
      onAskAgain: () => kept.current.onAskAgain?.(),
    });
  }, [live, topic]);
}

/** A query whose value the topic replaces as it moves: the topic's value is the body of the same call. */
export function useLiveQuery<T, K extends QueryKey>(topic: string | null, options: UseQueryOptions<T, Error, T, K>) {
  const live = useLiveStream();
  const queries = useQueryClient();
  const key: QueryKey = options.queryKey;
  const told = useRef<unknown>(undefined); // what the topic told last, as the cache keeps it
  useTopic(
    options.enabled === false ? null : topic,
    (value) => {
      queries.setQueryData<unknown>(key, value);
      told.current = queries.getQueryData(key);
    },
    () => void queries.invalidateQueries({ queryKey: key, exact: true }),
  );
  const query = useQuery(options);
  // A call may have brought something else, older or newer. Were it older, or undone before the topic looked again, the
  // stream would stay silent: nothing changed for it.
  useEffect(() => {
    if (topic === null || told.current === undefined || query.data === told.current) return;
    told.current = undefined;
    live.refresh(topic);
  }, [live, topic, query.data]);
  return query;
}
