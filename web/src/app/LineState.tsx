// The dot that says how fresh everything here is.
import { Tooltip } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useLiveState } from '@/lib/useLive';
import { useWords } from '@/lib/words';
import classes from './LineState.module.css';

export function LineState() {
  const { t } = useWords();
  const { line, heard } = useLiveState();
  const [now, setNow] = useState(() => Date.now());
  const stale = line !== 'live';
  useEffect(() => {
    if (!stale) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [stale]);
  const state = { live: t('line.live'), connecting: t('line.connecting'), polling: t('line.polling'), offline: t('line.offline') }[line];
  const age = Math.floor((now - heard) / 1000);
  const old = stale && heard > 0 && age >= 3 ? t('line.age', { age }) : '';
  return (
    <Tooltip label={old || t('line.label', { state })}>
      <span className={classes.line} data-line={line} role="status" aria-label={t('line.label', { state })}>
        <span className={classes.dot} aria-hidden />
        <span aria-hidden>{state}</span>
        {old && (
          <span className={classes.age} aria-hidden>
            · {old}
          </span>
        )}
      </span>
    </Tooltip>
  );
}
