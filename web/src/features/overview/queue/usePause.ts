// Pausing and resuming the queue; locked until the yard says that it is so.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { pending, usePending } from '@/features/tasks';
import { statusQuery, usePauseQueue } from '@/features/yard';
import { detailOf, type YardStatus } from '@/lib/api';
import { useWords } from '@/lib/words';

const kKey = 'queue';
const pausedOf = ({ queue }: YardStatus) => queue.paused;

export function usePause(refuse: (text: string | null) => void) {
  const { t } = useWords();
  const queries = useQueryClient();
  const { data: paused = false } = useQuery({ ...statusQuery, select: pausedOf });
  const doing = usePending(kKey, String(paused)) !== null;
  const { mutateAsync } = usePauseQueue();
  const set = async (on: boolean) => {
    refuse(null);
    pending.begin(kKey, 'pause', String(paused));
    try {
      await mutateAsync(on);
    } catch (error) {
      pending.end(kKey);
      refuse(detailOf(error, t('app.unreachable')));
    }
    void queries.invalidateQueries({ queryKey: statusQuery.queryKey });
  };
  return { paused, doing, set: (on: boolean) => void set(on) };
}
