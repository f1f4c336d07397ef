import { queryOptions } from '@tanstack/react-query';
import { answer, client } from '@/lib/api';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => answer(client.GET('/api/v1/session')),
  staleTime: Infinity,
});

export const signIn = (code: string) => answer(client.POST('/api/v1/session', { body: { code } }));
export const signOut = () => answer(client.DELETE('/api/v1/session', { headers: { 'Content-Type': 'application/json' } }));

/** The one-time code in the address (#code=…), taken out of it so that neither history nor a copied link keeps it. */
export function takeCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code !== null) history.replaceState(history.state, '', location.pathname + location.search);
  return code;
}
