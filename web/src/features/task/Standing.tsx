// What one comes for: why it waits, how far it is, or how it ended and what to press.
import { Anchor, Button, Code, Group } from '@mantine/core';
import { IconArrowBarToUp, IconCopy, IconRefresh } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useLayoutEffect, useRef } from 'react';
import { ProgressLine } from '@/components/ProgressLine';
import { Since } from '@/components/Since';
import type { TaskDetail } from '@/lib/api';
import { formatReal } from '@/lib/format';
import { useWords } from '@/lib/words';
import { tailQuery } from './api';
import { LastOutput } from './log/LastOutput';
import { classWord, outcomeView, type OutcomeView } from './outcome';
import type { Acts } from './useActs';
import classes from './Task.module.css';

export function Standing(props: { task: TaskDetail; acts: Acts; toLog: () => void }) {
  const { task, acts } = props;
  const ended = outcomeView(task);
  if (ended) return <Ended task={task} view={ended} acts={acts} toLog={props.toLog} />;
  if (task.state === 'waiting' || task.state === 'preparing') return <Waiting task={task} acts={acts} />;
  return <Running task={task} />;
}

function Waiting(props: { task: TaskDetail; acts: Acts }) {
  const { t } = useWords();
  const { task, acts } = props;
  return (
    <section className={classes.standing} data-tone={task.held ? 'held' : 'waiting'} aria-label={t('task.why_waits')}>
      <p className={classes.reason}>{task.reason?.text ?? t('task.waits_nothing')}</p>
      <Group gap="xs">
        {task.held ? (
          <Button size="compact-sm" loading={acts.locked === 'release'} disabled={acts.locked !== null} onClick={() => acts.run('release')}>
            {t('task.act_release')}
          </Button>
        ) : (
          <Button size="compact-sm" variant="light" leftSection={<IconArrowBarToUp size={15} stroke={1.7} aria-hidden />} loading={acts.locked === 'first'} disabled={acts.locked !== null} onClick={() => acts.run('first')}>
            {t('task.act_first')}
          </Button>
        )}
        <span className={classes.dim}>
          {t('task.queued')} <Since from={task.submitted_at} />
          {t('task.ago')}
        </span>
      </Group>
      {task.attempts.length > 0 && <Earlier attempts={task.attempts} />}
    </section>
  );
}

function Running(props: { task: TaskDetail }) {
  const { t } = useWords();
  const { task } = props;
  return (
    <section className={classes.standing} data-tone="running" aria-label={t('task.progress')}>
      <ProgressLine progress={task.progress} timeLeft={task.time_left_s} />
      {task.reason && <p className={classes.reason}>{task.reason.text}</p>}
      <div className={classes.values}>
        <Metrics metrics={task.metrics} />
        {task.attempt !== null && <LastOutput id={task.id} attempt={task.attempt} rank={task.spec.ranks ? 0 : null} />}
        {task.checkpoint && <span className={classes.dim}>{t('task.checkpoint_last', { step: task.checkpoint.step })}</span>}
      </div>
    </section>
  );
}

const kMetrics = 8; // the others stand at their curves

function Metrics(props: { metrics: TaskDetail['metrics'] }) {
  const { t } = useWords();
  const all = Object.entries(props.metrics);
  if (all.length === 0) return null;
  // Losses first, as in the curves; by name within.
  const sorted = all.sort(([a], [b]) => Number(!/loss/i.test(a)) - Number(!/loss/i.test(b)) || (a < b ? -1 : 1));
  return (
    <dl className={classes.metrics} data-live aria-label={t('task.metrics')}>
      {sorted.slice(0, kMetrics).map(([name, value]) => (
        <div key={name} className={classes.metric}>
          <dt title={name}>
            <bdi>{name}</bdi>
          </dt>
          <dd data-bad={typeof value === 'string' || undefined}>{formatReal(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function Ended(props: { task: TaskDetail; view: OutcomeView; acts: Acts; toLog: () => void }) {
  const { t } = useWords();
  const { task, view, acts } = props;
  const facts = [
    view.kind ? t('task.class', { name: classWord(view.kind, t) }) : '',
    view.exitCode !== null && view.tone !== 'good' ? t('task.exit_code', { code: view.exitCode }) : '',
    view.signal !== null ? t('task.signal', { number: view.signal }) : '',
    task.retries > 0 ? t('task.retried', { count: task.retries }) : '',
  ].filter(Boolean);
  const retry = (
    <Button key="retry" size="compact-sm" variant={view.remedy === 'retry' ? 'filled' : 'default'} leftSection={<IconRefresh size={15} stroke={1.7} aria-hidden />} loading={acts.locked === 'retry'} disabled={acts.locked !== null} onClick={() => acts.run('retry')}>
      {task.checkpoint ? t('task.retry_from', { step: task.checkpoint.step }) : t('task.act_retry')}
    </Button>
  );
  const change = (
    <Button key="change" size="compact-sm" variant={view.remedy === 'change' ? 'filled' : 'default'} leftSection={<IconCopy size={15} stroke={1.7} aria-hidden />} disabled={acts.locked !== null} onClick={() => acts.run('clone')}>
      {t('task.change_again')}
    </Button>
  );
  return (
    <section className={classes.standing} data-tone={view.tone} aria-label={t('task.outcome')}>
      <p className={classes.reason}>{view.reason}</p>
      {facts.length > 0 && <p className={classes.dim}>{facts.join(' · ')}</p>}
      {view.tone === 'bad' && <Evidence task={task} view={view} toLog={props.toLog} />}
      {view.remedy !== 'none' && (
        <Group gap="xs" mt={4}>
          {view.remedy === 'retry' ? [retry, change] : [change, retry]}
        </Group>
      )}
      {view.tone === 'good' && <Metrics metrics={task.metrics} />}
      {view.earlier.length > 0 && <Earlier attempts={task.attempts.slice(0, -1)} />}
    </section>
  );
}

/** The line that shows it, the exception and the end of the log: enough to know without looking further. */
function Evidence(props: { task: TaskDetail; view: OutcomeView; toLog: () => void }) {
  const { t } = useWords();
  const { task, view } = props;
  const tail = useQuery({ ...tailQuery(task.id, view.attempt ?? 1), enabled: view.attempt !== null });
  const lines = tail.data?.lines ?? [];
  const exception = tail.data?.exception ?? '';
  const shown = exception || view.evidence;
  // It opens at its end, where a program says why; and not past the line that shows it.
  const box = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    element.scrollTop = element.scrollHeight;
    const marked = element.querySelector<HTMLElement>('[data-shown]');
    if (marked && marked.offsetTop < element.scrollTop) element.scrollTop = marked.offsetTop;
  }, [lines.length]);
  return (
    <>
      {shown && (
        <p className={classes.evidence}>
          <bdi>{shown}</bdi>
        </p>
      )}
      {exception && view.evidence && view.evidence !== exception && !lines.includes(view.evidence) && <p className={classes.evidence}>{view.evidence}</p>}
      {lines.length > 0 && (
        <>
          <Group gap="xs" justify="space-between">
            <span className={classes.dim}>{tail.data?.rank != null ? t('task.last_lines_rank', { rank: tail.data.rank }) : t('task.last_lines')}</span>
            <Anchor component="button" type="button" size="xs" onClick={props.toLog}>
              {t('task.whole_log')}
            </Anchor>
          </Group>
          <Code block ref={box} className={classes.tail} tabIndex={0} aria-label={t('task.last_lines')}>
            {lines.map((line, at) => (
              <span key={at} className={classes.tailLine} data-shown={line !== '' && (line === exception || line === view.evidence) ? true : undefined}>
                {line}
                {'\n'}
              </span>
            ))}
          </Code>
        </>
      )}
    </>
  );
}

function Earlier(props: { attempts: TaskDetail['attempts'] }) {
  const { t } = useWords();
  const ended = props.attempts.filter((attempt) => attempt.outcome?.reason);
  if (ended.length === 0) return null;
  return (
    <ul className={classes.earlier} aria-label={t('task.earlier')}>
      {ended.slice(-3).reverse().map((attempt) => (
        <li key={attempt.number}>
          <b>{t('task.run', { number: attempt.number })}</b> {attempt.outcome!.reason!.text}
        </li>
      ))}
    </ul>
  );
}
