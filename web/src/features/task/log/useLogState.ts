import { queryOptions } from '@tanstack/react-query';
import { useLiveQuery } from '@/lib/useLive';
import { getLines, type LogOf } from '../api';

interface LogState {
  size: number;
  ended: boolean;
}

const logQuery = (log: LogOf) =>
  queryOptions({
    queryKey: ['tasks', 'log', log.id, log.attempt, log.rank],
    queryFn: async (): Promise<LogState> => {
      const { size, ended } = await getLines(log, -1, 1);
      return { size, ended };
    },
  });

/** How large a log is and whether it has ended; live. */
export const useLogState = (log: LogOf) => useLiveQuery<LogState, (string | number | null)[]>(`log/${log.id}/${log.attempt}/${log.rank ?? '-'}`, logQuery(log) as never).data;
