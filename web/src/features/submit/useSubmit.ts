// Sends a task so that a second click, or a second try after a lost answer, queues it once.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { submitTask, type TaskSpec } from '@/features/tasks';
import { ApiProblem } from '@/lib/api';
import type { SpecWish } from './draft';

/** A key nobody else makes; browsers have randomUUID on secure pages alone. */
export function freshKey(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function useSubmit(done: (id: number) => void) {
  const queries = useQueryClient();
  const last = useRef<{ wish: unknown; spec: SpecWish; key: string } | null>(null);
  return useMutation({
    // `wish` is what the person wrote: while that is the same, so are body and key, whatever time it has become.
    mutationFn: ({ wish, spec }: { wish: unknown; spec: SpecWish }) => {
      const before = last.current;
      const again = before !== null && before.wish === wish ? before : { wish, spec, key: freshKey() };
      last.current = again;
      return submitTask(again.spec as TaskSpec, again.key);
    },
    onSuccess: (receipt) => {
      last.current = null;
      void queries.invalidateQueries({ queryKey: ['tasks', 'list'] });
      done(receipt.id);
    },
    onError: (error) => {
      // Refused: nothing was queued, the next try is another one.
      if (error instanceof ApiProblem && error.status < 500) last.current = null;
    },
  });
}
