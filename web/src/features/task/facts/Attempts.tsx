// Every run of the task: where it ran, what it began from, how it ended.
import { Table } from '@mantine/core';
import { memo } from 'react';
import { At, Since } from '@/components/Since';
import { Section } from '@/components/Section';
import { StateBadge } from '@/components/StateBadge';
import { wordText } from '@/lib/shell';
import type { Attempt, TaskDetail } from '@/lib/api';
import { useWords, type Translate } from '@/lib/words';
import { useLabels } from '../Head';
import classes from './Facts.module.css';

const kShown = 100; // newest first; nobody reads on

export const Attempts = memo(function Attempts(props: { attempts: TaskDetail['attempts'] }) {
  const { t } = useWords();
  const label = useLabels();
  const newest = [...props.attempts].reverse();
  if (newest.length === 0) return null;
  return (
    <Section title={t('task.runs')} count={newest.length}>
      <div className={classes.scroll} tabIndex={0} role="region" aria-label={t('task.runs')}>
        <Table verticalSpacing={6} horizontalSpacing="sm" className={classes.table}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('task.column_run')}</Table.Th>
              <Table.Th>{t('task.column_state')}</Table.Th>
              <Table.Th>{t('task.column_devices')}</Table.Th>
              <Table.Th>{t('task.column_started')}</Table.Th>
              <Table.Th>{t('task.column_took')}</Table.Th>
              <Table.Th>{t('task.column_from')}</Table.Th>
              <Table.Th className={classes.reasonColumn}>{t('task.column_end')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {newest.slice(0, kShown).map((attempt) => (
              <Run key={attempt.number} attempt={attempt} label={label} t={t} />
            ))}
          </Table.Tbody>
        </Table>
      </div>
    </Section>
  );
});

function Run(props: { attempt: Attempt; label: (id: string) => string; t: Translate }) {
  const { attempt, label, t } = props;
  const resume = attempt.resume ? wordText(attempt.resume).text : '';
  const ends = ranksText(attempt, t);
  return (
    <Table.Tr>
      <Table.Td className="number">{attempt.number}</Table.Td>
      <Table.Td>
        <StateBadge task={{ state: attempt.state, held: false, frozen: false, outcome: attempt.outcome }} />
      </Table.Td>
      <Table.Td className={classes.nowrap} title={attempt.devices.map(label).join(', ')}>{attempt.devices.map(label).join(', ') || '–'}</Table.Td>
      <Table.Td className={classes.nowrap}>{attempt.started_at ? <At time={attempt.started_at} /> : '–'}</Table.Td>
      <Table.Td className={classes.nowrap}>{attempt.started_at ? <Since from={attempt.started_at} to={attempt.ended_at} /> : '–'}</Table.Td>
      <Table.Td className={classes.from} title={resume}>
        {resume ? <bdi>{resume.split('/').at(-1)}</bdi> : t('task.from_start')}
      </Table.Td>
      <Table.Td className={classes.reasonColumn}>
        {attempt.outcome?.reason?.text ?? ''}
        {ends && <div className={classes.dim}>{ends}</div>}
        {attempt.rule && <div className={classes.dim}>{attempt.rule.text}</div>}
      </Table.Td>
    </Table.Tr>
  );
}

/** How the ranks ended, when one did not end well: "rank 1: exit code 7 · rank 2: never started". */
function ranksText(attempt: Pick<Attempt, 'ranks'>, t: Translate): string {
  if (attempt.ranks.every(({ exit_code, signal }) => exit_code === 0 && signal === null)) return '';
  const bad = attempt.ranks.filter(({ exit_code, signal }) => exit_code !== 0 || signal !== null);
  const words = bad.slice(0, 8).map(({ rank, exit_code, signal }) => (signal !== null ? t('task.rank_signal', { rank, number: signal }) : exit_code !== null ? t('task.rank_code', { rank, code: exit_code }) : t('task.rank_never', { rank })));
  return words.join(' · ') + (bad.length > 8 ? ' …' : '');
}
