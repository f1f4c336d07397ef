// One task on one page: how it stands, its curves, its log, then what was asked and written. The bar under the head leads
// to the parts; everything that is looked at stands in the address.
import { Anchor, Center, Loader, Stack, Text, UnstyledButton } from '@mantine/core';
import { useCallback, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { ProgressLine } from '@/components/ProgressLine';
import { StateBadge } from '@/components/StateBadge';
import { useTask } from '@/features/tasks';
import { ApiProblem, detailOf, type TaskDetail } from '@/lib/api';
import { useWords } from '@/lib/words';
import { replaceSearch } from './address';
import { Curves } from './curves/Curves';
import { Attempts } from './facts/Attempts';
import { Facts } from './facts/Facts';
import { Files } from './facts/Files';
import { Head } from './Head';
import { numberIn, TaskLog } from './log/TaskLog';
import { Standing } from './Standing';
import { useActs } from './useActs';
import classes from './Task.module.css';

export function TaskPage(props: { id: number }) {
  const { t } = useWords();
  const task = useTask(props.id);
  if (task.data) return <Page task={task.data} />;
  if (task.isPending) {
    return (
      <Center h="40vh">
        <Loader aria-label={t('app.loading')} />
      </Center>
    );
  }
  return (
    <Center h="40vh">
      <Stack align="center" gap="xs">
        <Text component="h1" m={0} size="md" fw={400}>
          {detailOf(task.error, t('app.unreachable'))}
        </Text>
        {task.error instanceof ApiProblem && task.error.status === 404 ? (
          <Anchor component={Link} href="/tasks" size="sm">
            {t('task.to_tasks')}
          </Anchor>
        ) : (
          <Anchor component="button" type="button" size="sm" onClick={() => void task.refetch()}>
            {t('app.retry')}
          </Anchor>
        )}
      </Stack>
    </Center>
  );
}

const parts = ['now', 'curves', 'log', 'facts', 'files'] as const;
type Part = (typeof parts)[number];
const idOf = (part: Part) => `task-${part}`;

function Page(props: { task: TaskDetail }) {
  const { task } = props;
  const acts = useActs(task);
  const show = useCallback((part: Part) => {
    replaceSearch((search) => {
      if (part === 'now') search.delete('part');
      else search.set('part', part);
      return search;
    });
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const there = document.getElementById(idOf(part));
    there?.scrollIntoView({ behavior: calm ? 'auto' : 'smooth', block: 'start' });
    there?.focus({ preventScroll: true });
  }, []);

  const page = useRef<HTMLDivElement>(null);
  useEffect(() => comeTo(page.current), []);

  const moment = `${task.attempts.filter((attempt) => attempt.ended_at).length} ${task.state === 'ended'}`;
  return (
    <div className={classes.page} ref={page}>
      <div id={idOf('now')} tabIndex={-1} className={classes.part}>
        <Head task={task} acts={acts} />
        <Standing task={task} acts={acts} toLog={() => show('log')} />
      </div>
      <Parts task={task} show={show} />
      <div id={idOf('curves')} tabIndex={-1} className={classes.part}>
        <Curves id={task.id} open={task.state !== 'ended'} />
      </div>
      <div id={idOf('log')} tabIndex={-1} className={classes.part}>
        <TaskLog id={task.id} attempts={task.attempts} ranks={task.spec.ranks === true} />
      </div>
      <div id={idOf('facts')} tabIndex={-1} className={classes.part}>
        <Facts spec={task.spec} priority={task.priority} checkpoint={task.checkpoint} code_changed={task.code_changed} out_folder={task.out_folder} submitted_at={task.submitted_at} uid={task.uid} />
        <div className={classes.gap} />
        <Attempts attempts={task.attempts} />
      </div>
      <div id={idOf('files')} tabIndex={-1} className={classes.part}>
        <Files id={task.id} moment={moment} />
      </div>
    </div>
  );
}

const kSettling = 2500; // ms in which a page that is being filled may still move

/** Goes to the part, or the line of the log, that the address asks for, and stays there while the page is filled. */
function comeTo(page: HTMLElement | null): (() => void) | undefined {
  const asked = parts.find((part) => part === new URLSearchParams(location.search).get('part')) ?? (numberIn(location.search, 'line', 1) === null ? null : 'log');
  if (!asked || asked === 'now' || !page) return;
  const go = () => document.getElementById(idOf(asked))?.scrollIntoView({ block: 'start' });
  go();
  if (typeof ResizeObserver === 'undefined') return;
  const observer = new ResizeObserver(go);
  observer.observe(page);
  // Whoever moves by hand is let go.
  const ends = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;
  const stop = () => {
    observer.disconnect();
    clearTimeout(timer);
    for (const end of ends) window.removeEventListener(end, stop);
  };
  const timer = setTimeout(stop, kSettling);
  for (const end of ends) window.addEventListener(end, stop, { passive: true });
  return stop;
}

/** Where one is and where else one may go; stays in view, and tells how the task stands when its head does not. */
function Parts(props: { task: TaskDetail; show: (part: Part) => void }) {
  const { t } = useWords();
  const here = useHere();
  const words: Record<Part, string> = { now: t('task.overview'), curves: t('task.curves'), log: t('task.log'), facts: t('task.facts'), files: t('task.files') };
  const { task } = props;
  return (
    <nav className={classes.parts} aria-label={t('task.parts')}>
      <div className={classes.partLinks}>
        {parts.map((part) => (
          <UnstyledButton key={part} className={classes.partLink} data-here={part === here || undefined} aria-current={part === here ? 'location' : undefined} onClick={() => props.show(part)}>
            {words[part]}
          </UnstyledButton>
        ))}
      </div>
      {here !== 'now' && (
        <div className={classes.mini} aria-hidden>
          <span className={classes.miniName}>{task.name}</span>
          <StateBadge task={task} />
          {task.state === 'running' && task.progress && (
            <div className={classes.miniProgress}>
              <ProgressLine progress={task.progress} timeLeft={task.time_left_s} compact />
            </div>
          )}
        </div>
      )}
    </nav>
  );
}

/** The part that is at the top of what is seen. */
function useHere(): Part {
  const [here, setHere] = useState<Part>('now');
  useEffect(() => {
    if (typeof IntersectionObserver === 'undefined') return;
    const seen = new Set<string>();
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) {
          if (isIntersecting) seen.add(target.id);
          else seen.delete(target.id);
        }
        setHere(parts.find((part) => seen.has(idOf(part))) ?? 'now');
      },
      { rootMargin: '-100px 0px -60% 0px' },
    );
    for (const part of parts) {
      const there = document.getElementById(idOf(part));
      if (there) observer.observe(there);
    }
    return () => observer.disconnect();
  }, []);
  return here;
}
