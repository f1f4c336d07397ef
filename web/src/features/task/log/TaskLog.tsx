// The log of one run, the newest until another is chosen; ?line=123 opens it there.
import { NativeSelect } from '@mantine/core';
import { memo, useCallback, useMemo, useState } from 'react';
import { LogView, type SearchLines } from '@/components/log';
import { Section } from '@/components/Section';
import type { Attempt } from '@/lib/api';
import { useWords } from '@/lib/words';
import { replaceSearch } from '../address';
import { fileUrl, getLines, logPath, searchLog, type LogOf } from '../api';
import { useLogState } from './useLogState';
import classes from '../Task.module.css';

interface TaskLogProps {
  id: number;
  attempts: Attempt[];
  ranks: boolean;
}

/** A whole number of the address, at least `least`. */
export function numberIn(search: string, name: string, least: number): number | null {
  const text = new URLSearchParams(search).get(name);
  return text !== null && /^\d{1,15}$/.test(text) && Number(text) >= least ? Number(text) : null;
}

export const TaskLog = memo(function TaskLog(props: TaskLogProps) {
  const { t } = useWords();
  const { id, attempts, ranks } = props;
  // Null follows the newest run, also when another begins.
  const [chosen, setChosen] = useState(() => numberIn(location.search, 'attempt', 1));
  const [rank, setRank] = useState(() => numberIn(location.search, 'rank', 0) ?? 0);
  const [line] = useState(() => numberIn(location.search, 'line', 1));
  const attempt = attempts.find(({ number }) => number === chosen) ?? attempts.at(-1);
  if (!attempt) {
    return (
      <Section title={t('task.log')}>
        <p className={classes.empty}>{t('task.log_none')}</p>
      </Section>
    );
  }
  const ofRank = ranks ? Math.min(rank, attempt.processes - 1) : null;
  const choose = (number: number | null, nextRank: number) => {
    setChosen(number);
    setRank(nextRank);
    replaceSearch((search) => {
      search.delete('line');
      if (number === null) search.delete('attempt');
      else search.set('attempt', String(number));
      if (nextRank === 0) search.delete('rank');
      else search.set('rank', String(nextRank));
      return search;
    });
  };
  const log = { id, attempt: attempt.number, rank: ofRank };
  return (
    <Section
      title={t('task.log')}
      actions={
        <>
          {attempts.length > 1 && (
            <NativeSelect
              size="xs"
              aria-label={t('task.log_of_run')}
              value={String(attempt.number)}
              onChange={(event) => choose(Number(event.currentTarget.value) === attempts.at(-1)!.number ? null : Number(event.currentTarget.value), rank)}
              data={[...attempts].reverse().map(({ number }) => ({ value: String(number), label: t('task.run', { number }) }))}
            />
          )}
          {ofRank !== null && attempt.processes > 1 && (
            <NativeSelect size="xs" aria-label={t('task.log_of_rank')} value={String(ofRank)} onChange={(event) => choose(chosen, Number(event.currentTarget.value))} data={Array.from({ length: attempt.processes }, (_, at) => ({ value: String(at), label: t('task.rank', { rank: at }) }))} />
          )}
        </>
      }
    >
      <OneLog key={`${attempt.number}/${ofRank}`} log={log} line={line} title={t('task.log_title', { number: attempt.number })} />
    </Section>
  );
});

function OneLog(props: { log: LogOf; line: number | null; title: string }) {
  const { id, attempt, rank } = props.log;
  const log = useMemo(() => ({ id, attempt, rank }), [id, attempt, rank]);
  const state = useLogState(log);
  const fetchLines = useCallback((from: number, count: number) => getLines(log, from, count), [log]);
  const search = useCallback<SearchLines>((q, options, from, limit) => searchLog(log, q, options, from, limit), [log]);
  const download = useCallback(() => {
    const link = document.createElement('a');
    link.href = fileUrl(id, logPath(log));
    link.download = '';
    link.click();
  }, [id, log]);
  return (
    <LogView
      title={props.title}
      logKey={`${id}/${attempt}/${rank ?? '-'}`}
      fetchLines={fetchLines}
      search={search}
      size={state?.size}
      ended={state?.ended}
      initialLine={props.line === null ? undefined : props.line - 1}
      onDownload={download}
      height="min(36rem, calc(100dvh - 8.5rem))"
    />
  );
}
