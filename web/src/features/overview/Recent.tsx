// The last tasks that ended, how and why.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { memo, useCallback } from 'react';
import { Link } from 'wouter';
import { Section } from '@/components/Section';
import { At } from '@/components/Since';
import { StateBadge } from '@/components/StateBadge';
import type { Task } from '@/lib/api';
import { useTopic } from '@/lib/useLive';
import { useWords } from '@/lib/words';
import { newestFirst } from './trouble';
import { recentQuery } from './api';
import { useHour } from './useHour';
import classes from './Rows.module.css';

const kShown = 10;
const newest = (list: { items: Task[] }) => [...list.items].sort(newestFirst).slice(0, kShown);

/** `quiet`: nothing at all is shown where nothing ended. */
export const Recent = memo(function Recent(props: { quiet: boolean }) {
  const { t } = useWords();
  const queries = useQueryClient();
  const hour = useHour();
  const { data: rows } = useQuery({ ...recentQuery(hour), select: newest });
  const again = useCallback(() => void queries.invalidateQueries({ queryKey: ['tasks', 'recent'] }), [queries]);
  useTopic(
    'events',
    useCallback(
      (value: unknown) => {
        const { items } = value as { items: { kind: string }[] };
        if (items.some(({ kind }) => kind === 'task.ended')) again();
      },
      [again],
    ),
    again,
  );
  if (!rows || (props.quiet && rows.length === 0)) return null;
  return (
    <Section title={t('overview.recent')} actions={<Link href="/tasks" className={classes.all}>{t('overview.recent_all')}</Link>}>
      {rows.length === 0 ? (
        <p className={classes.nothing}>{t('overview.recent_none')}</p>
      ) : (
        <ul className={classes.recent}>
          {rows.map((task) => (
            <Ended key={task.id} task={task} />
          ))}
        </ul>
      )}
    </Section>
  );
});

const Ended = memo(function Ended({ task }: { task: Task }) {
  const reason = task.outcome?.reason?.text ?? '';
  return (
    <li className={classes.ended}>
      <Link href={`/tasks/${task.id}`} className={`${classes.name} ${classes.endedName}`} title={task.name}>
        <bdi>{task.name}</bdi>
      </Link>
      <span className={classes.endedState}>
        <StateBadge task={task} />
      </span>
      <span className={classes.endedReason} title={reason}>
        {reason}
      </span>
      <span className={classes.endedAt}>{task.ended_at && <At time={task.ended_at} />}</span>
    </li>
  );
});
