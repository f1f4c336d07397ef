// Asks for acts on one task and knows which is still under way, wherever it was asked for.
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { act as ask, beginAct, endAct, pendingAct, prioritise, taskQuery, usePendingAct } from '@/features/tasks';
import { detailOf, type TaskDetail } from '@/lib/api';
import { useLiveStream } from '@/lib/useLive';
import { useWords } from '@/lib/words';
import type { Act } from './actions';

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
  const [said, setSaid] = useState('');
  const locked = usePendingAct(task) as Act | null;
  const look = () => void queries.invalidateQueries({ queryKey: taskQuery(task.id).queryKey });

  const run = (act: Act, priority?: number) => {
    // Presses may come faster than the page is drawn.
    if (pendingAct(task)) return;
    if (act === 'clone') return navigate(`/new?like=${task.id}`);
    setSaid('');
    beginAct(task, act, () => {
      setSaid(t('task.act_slow'));
      look();
    });
    const call = act === 'first' ? prioritise({ tasks: [task.id], first: true }) : act === 'priority' ? prioritise({ tasks: [task.id], priority: priority ?? 0 }) : ask(act === 'kill' ? 'cancel' : act, [task.id]);
    call
      .then(() => {
        if (act === 'remove') {
          queries.removeQueries({ queryKey: taskQuery(task.id).queryKey });
          void queries.invalidateQueries({ queryKey: ['tasks', 'list'] });
          return navigate('/tasks');
        }
        // Its place is nowhere but in the reason, and may be what it was.
        if (act === 'first') endAct(task.id);
        // The topic tells what has come of it; an answer that is older than its news would undo them.
        if (live.getState().line !== 'live') look();
      })
      .catch((error: unknown) => {
        endAct(task.id);
        setSaid(detailOf(error, t('app.unreachable')));
      });
  };
  return { locked, said, run, hush: () => setSaid('') };
}
