// One row of the list of all tasks.
import { Checkbox } from '@mantine/core';
import { memo } from 'react';
import { Link } from 'wouter';
import { ProgressLine } from '@/components/ProgressLine';
import { At, Since } from '@/components/Since';
import { StateBadge } from '@/components/StateBadge';
import type { Task } from '@/lib/api';
import { useWords } from '@/lib/words';
import { TaskMenu } from './acts/TaskMenu';
import type { CellsProps } from './grid/RowGrid';
import { useChoice } from './selection';
import classes from './TasksPage.module.css';

export function TaskHead() {
  const { t } = useWords();
  return (
    <>
      <span role="columnheader" className={classes.select}>
        <span className={classes.unseen}>{t('tasks.col_select')}</span>
      </span>
      <span role="columnheader" className={classes.number}>
        {t('tasks.col_number')}
      </span>
      <span role="columnheader" className={classes.task}>
        {t('tasks.col_task')}
      </span>
      <span role="columnheader" className={classes.standing}>
        {t('tasks.col_state')}
      </span>
      <span role="columnheader" className={classes.what}>
        {t('tasks.col_what')}
      </span>
      <span role="columnheader" className={classes.when}>
        {t('tasks.col_when')}
      </span>
      <span role="columnheader" className={classes.menu}>
        <span className={classes.unseen}>{t('tasks.col_actions')}</span>
      </span>
    </>
  );
}

export const TaskCells = memo(function TaskCells({ row: task, tabIndex }: CellsProps<Task>) {
  const { t } = useWords();
  const { ids, toggle } = useChoice();
  return (
    <>
      <span role="gridcell" className={classes.select}>
        <Checkbox
          size="xs"
          tabIndex={tabIndex}
          aria-label={t('tasks.select_one', { name: task.name })}
          checked={ids.has(task.id)}
          onChange={(event) => toggle(task.id, (event.nativeEvent as MouseEvent).shiftKey === true)}
        />
      </span>
      <span role="gridcell" className={`${classes.number} number`}>
        {task.id}
      </span>
      <span role="gridcell" className={classes.task}>
        <Link href={`/tasks/${task.id}`} className={classes.name} tabIndex={tabIndex} title={task.name}>
          <bdi>{task.name}</bdi>
        </Link>
        {task.tags.length > 0 && <Tags tags={task.tags} tabIndex={tabIndex} />}
      </span>
      <span role="gridcell" className={classes.standing}>
        <StateBadge task={task} />
      </span>
      <span role="gridcell" className={classes.what}>
        <What task={task} />
      </span>
      <span role="gridcell" className={`${classes.when} number`}>
        <When task={task} />
      </span>
      <span role="gridcell" className={classes.menu}>
        <TaskMenu task={task} tabIndex={tabIndex} />
      </span>
    </>
  );
});

function Tags(props: { tags: readonly string[]; tabIndex: 0 | -1 }) {
  const { t } = useWords();
  return (
    <span className={classes.tags}>
      {props.tags.slice(0, 3).map((tag) => (
        <Link key={tag} href={`/tasks?tag=${encodeURIComponent(tag)}`} className={classes.tag} tabIndex={props.tabIndex} title={t('tasks.with_tag', { tag })}>
          <bdi>{tag}</bdi>
        </Link>
      ))}
      {props.tags.length > 3 && <span title={props.tags.slice(3).join(', ')}>+{props.tags.length - 3}</span>}
    </span>
  );
}

/** How far it is, why it waits, or how it ended. */
function What({ task }: { task: Task }) {
  if (task.state === 'running' || task.state === 'stopping') return <ProgressLine progress={task.progress} timeLeft={task.time_left_s} compact />;
  const text = task.outcome?.reason?.text ?? task.reason?.text ?? '';
  return (
    <span className={classes.reason} title={text}>
      {text}
    </span>
  );
}

function When({ task }: { task: Task }) {
  const { t } = useWords();
  if (task.state === 'ended') return task.ended_at ? <At time={task.ended_at} /> : <>–</>;
  const from = task.started_at && task.state !== 'waiting' ? task.started_at : task.submitted_at;
  return (
    <span title={task.state === 'waiting' ? t('tasks.queued_at', { at: from }) : t('tasks.started_at', { at: from })}>
      <Since from={from} />
    </span>
  );
}
