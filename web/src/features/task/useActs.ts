// Asks for acts on one task and knows which are still under way.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { act as ask, prioritise, taskQuery } from '@/features/tasks';
import { detailOf, type TaskDetail } from '@/lib/api';
import { useLiveStream } from '@/lib/useLive';
import { useWords } from '@/lib/words';
import { kLock, lockOf, pendingOf, type Act, type Pending } from './actions';

export interface Acts {
  /** The act that everything waits for; null when one may press. */
  locked: Act | null;
  /** A refusal, or that it takes long; a sentence. */
  said: string;
  run: (act: Act, priority?: number) => void;
  hush: () => void;
}

export function useActs(task: TaskDetail): Acts {
  const { t } = useWords();
  const queries = useQueryClient();
  const live = useLiveStream();
  const [, navigate] = useLocation();
  const [pending, setPending] = useState<Pending | null>(null);
  const [sending, setSending] = useState<Act | null>(null);
  const [said, setSaid] = useState('');
  const locked = sending ?? lockOf(pending, task, Date.now());

  // A lock that nothing opened is opened by time, and that is told.
  useEffect(() => {
    if (!pending) return;
    const timer = setTimeout(() => {
      setPending(null);
      setSaid(t('task.act_slow'));
      void queries.invalidateQueries({ queryKey: taskQuery(task.id).queryKey });
    }, kLock);
    return () => clearTimeout(timer);
  }, [pending, queries, task.id, t]);
  const waits = pending !== null && locked !== null;
  useEffect(() => {
    if (pending && !waits) setPending(null);
  }, [pending, waits]);

  // Presses may come faster than the page is drawn.
  const busy = useRef(false);
  const run = (act: Act, priority?: number) => {
    if (locked || busy.current) return;
    if (act === 'clone') return navigate(`/new?like=${task.id}`);
    busy.current = true;
    setSaid('');
    setSending(act);
    const call = act === 'first' ? prioritise({ tasks: [task.id], first: true }) : act === 'priority' ? prioritise({ tasks: [task.id], priority: priority ?? 0 }) : ask(act === 'kill' ? 'cancel' : act, [task.id]);
    call
      .then(() => {
        if (act === 'remove') {
          queries.removeQueries({ queryKey: taskQuery(task.id).queryKey });
          void queries.invalidateQueries({ queryKey: ['tasks', 'list'] });
          return navigate('/tasks');
        }
        setPending(pendingOf(act, task, Date.now()));
        // The topic tells what has come of it; an answer that is older than its news would undo them.
        if (live.getState().line !== 'live') void queries.invalidateQueries({ queryKey: taskQuery(task.id).queryKey });
      })
      .catch((error: unknown) => setSaid(detailOf(error, t('app.unreachable'))))
      .finally(() => {
        busy.current = false;
        setSending(null);
      });
  };
  return { locked, said, run, hush: () => setSaid('') };
}
