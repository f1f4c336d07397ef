// What runs: how far, how well, how much longer.
import { useQuery } from '@tanstack/react-query';
import { memo } from 'react';
import { Link, useLocation } from 'wouter';
import { ProgressLine } from '@/components/ProgressLine';
import { Section } from '@/components/Section';
import { Since } from '@/components/Since';
import { StateBadge, standingOf } from '@/components/StateBadge';
import { devicesQuery } from '@/features/devices';
import { runningQuery } from '@/features/tasks';
import { RowGrid, TaskMenu, type CellsProps } from '@/features/tasks/list';
import type { Schemas, Task } from '@/lib/api';
import { formatReal } from '@/lib/format';
import { useWords } from '@/lib/words';
import { headline } from './headline';
import classes from './Rows.module.css';

const itemsOf = (list: { items: Task[] }) => list.items;

export const Running = memo(function Running() {
  const { t } = useWords();
  const [, go] = useLocation();
  const { data: rows } = useQuery({ ...runningQuery, select: itemsOf });
  return (
    <Section title={t('overview.running_title')} count={rows?.length}>
      {rows && rows.length > 0 ? (
        <RowGrid label={t('overview.running_title')} rows={rows} Cells={Cells} head={<Head />} className={classes.running} height={56} narrowHeight={104} most={560} onOpen={(task) => go(`/tasks/${task.id}`)} />
      ) : (
        <p className={classes.nothing}>{rows ? t('overview.running_none') : t('app.loading')}</p>
      )}
    </Section>
  );
});

function Head() {
  const { t } = useWords();
  return (
    <>
      <span role="columnheader">{t('overview.col_task')}</span>
      <span role="columnheader">{t('overview.col_devices')}</span>
      <span role="columnheader">{t('overview.col_progress')}</span>
      <span role="columnheader" className={classes.right}>
        {t('overview.col_metric')}
      </span>
      <span role="columnheader" className={classes.right}>
        {t('overview.col_since')}
      </span>
      <span role="columnheader">
        <span className={classes.unseen}>{t('overview.col_actions')}</span>
      </span>
    </>
  );
}

const Cells = memo(function Cells({ row: task, tabIndex }: CellsProps<Task>) {
  const { t } = useWords();
  return (
    <>
      <span role="gridcell" className={classes.task}>
        <Link href={`/tasks/${task.id}`} className={classes.name} tabIndex={tabIndex} title={task.name}>
          <bdi>{task.name}</bdi>
        </Link>
        <span className={classes.under}>
          <StateBadge task={task} />
          {(task.attempt ?? 1) > 1 && <span className={classes.dimmed}>{t('overview.attempt', { number: task.attempt! })}</span>}
        </span>
      </span>
      <span role="gridcell" className={classes.devices}>
        <Labels ids={task.devices} />
      </span>
      <span role="gridcell" className={classes.progress} data-frozen={standingOf(task) === 'frozen' || undefined}>
        <ProgressLine progress={task.progress} timeLeft={task.time_left_s} />
      </span>
      <span role="gridcell" className={classes.metric} data-live>
        <Metric task={task} />
      </span>
      <span role="gridcell" className={classes.since} data-live>
        {task.started_at && <Since from={task.started_at} />}
      </span>
      <span role="gridcell" className={classes.menu}>
        <TaskMenu task={task} tabIndex={tabIndex} />
      </span>
    </>
  );
});

const labelsOf = (list: Schemas['DeviceList']) => Object.fromEntries(list.items.map(({ id, label }) => [id, label]));

/** Devices by the names that people read; the yard may tell either. */
function Labels({ ids }: { ids: readonly string[] }) {
  const { t } = useWords();
  const { data: labels } = useQuery({ ...devicesQuery, select: labelsOf });
  const words = ids.length === 0 ? t('overview.no_device') : ids.map((id) => labels?.[id] ?? id).join(', ');
  return (
    <span className={classes.clip} title={words}>
      {words}
    </span>
  );
}

function Metric({ task }: { task: Task }) {
  const metric = headline(task.metrics);
  if (!metric) return <span className={classes.dimmed}>–</span>;
  const value = formatReal(metric.value);
  return (
    <>
      <span className={classes.metricValue} data-bad={!Number.isFinite(Number(metric.value)) || undefined} title={`${metric.name} ${metric.value}`}>
        {value}
      </span>
      <span className={classes.metricName}>
        <bdi>{metric.name}</bdi>
      </span>
    </>
  );
}
