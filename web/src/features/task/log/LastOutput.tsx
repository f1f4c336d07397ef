// How long ago the task wrote something: the first sign of one that hangs.
import { useEffect, useState } from 'react';
import { useNow } from '@/components/Since';
import { formatDuration } from '@/lib/format';
import { useWords } from '@/lib/words';
import type { LogOf } from '../api';
import { useLogState } from './useLogState';
import classes from '../Task.module.css';

const kQuiet = 120; // seconds without a word that are worth a colour

export function LastOutput(props: LogOf) {
  const { t, language } = useWords();
  const log = useLogState(props);
  const size = log?.size;
  const now = useNow();
  // When it grew before this page was opened nobody told: then it is "at least".
  const [grew, setGrew] = useState<{ size: number | undefined; at: number; seen: boolean }>({ size: undefined, at: Date.now(), seen: false });
  useEffect(() => {
    setGrew((before) => (size === undefined || size === before.size ? before : { size, at: Date.now(), seen: before.size !== undefined }));
  }, [size]);
  if (size === undefined) return null;
  const seconds = Math.max(0, Math.floor((now - grew.at) / 1000));
  const age = formatDuration(seconds, language);
  const words = size === 0 ? t('task.no_output') : grew.seen ? t('task.last_output', { age }) : t('task.quiet_for', { age });
  return (
    <span className={classes.lastOutput} data-live data-quiet={seconds >= kQuiet || undefined}>
      {words}
    </span>
  );
}
