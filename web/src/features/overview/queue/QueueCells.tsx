// One waiting task: its place, what it needs, how long it has waited and why.
import { Loader, Menu } from '@mantine/core';
import { IconGripVertical } from '@tabler/icons-react';
import { createContext, memo, use, type PointerEvent } from 'react';
import { Link } from 'wouter';
import { Since } from '@/components/Since';
import { StateBadge } from '@/components/StateBadge';
import { TaskMenu, type CellsProps } from '@/features/tasks/list';
import type { Task } from '@/lib/api';
import { useWords } from '@/lib/words';
import { priorityWords, wantWords, type Given } from './wants';
import classes from './Queue.module.css';

export interface QueueDeeds {
  places: readonly (number | null)[];
  /** Number of the last row. */
  last: number;
  given: Given;
  moving: ReadonlySet<number>;
  /** The task whose menu is open. */
  menu: number | null;
  openMenu: (id: number | null) => void;
  beginDrag: (event: PointerEvent<HTMLElement>, id: number, from: number) => void;
  moveTo: (id: number, to: number) => void;
  setPriority: (task: Task) => void;
}
export const QueueContext = createContext<QueueDeeds | null>(null);

export function QueueHead() {
  const { t } = useWords();
  return (
    <>
      <span role="columnheader" className={classes.right}>
        {t('overview.col_place')}
      </span>
      <span role="columnheader">{t('overview.col_task')}</span>
      <span role="columnheader">{t('overview.col_wants')}</span>
      <span role="columnheader">{t('overview.col_priority')}</span>
      <span role="columnheader" className={classes.right}>
        {t('overview.col_waiting')}
      </span>
      <span role="columnheader">{t('overview.col_reason')}</span>
      <span role="columnheader">
        <span className={classes.unseen}>{t('overview.col_actions')}</span>
      </span>
    </>
  );
}

export const QueueCells = memo(function QueueCells({ row: task, index, tabIndex }: CellsProps<Task>) {
  const { t } = useWords();
  const deeds = use(QueueContext)!;
  const place = deeds.places[index] ?? null;
  const moving = deeds.moving.has(task.id);
  const wants = wantWords(task, deeds.given, t);
  const reason = task.reason?.text ?? '';
  const isOpen = deeds.menu === task.id;
  return (
    <>
      <span role="gridcell" className={classes.place}>
        <button
          type="button"
          className={classes.handle}
          tabIndex={tabIndex}
          aria-label={place === null ? t('overview.drag_held', { name: task.name }) : t('overview.drag', { name: task.name, place })}
          onPointerDown={(event) => deeds.beginDrag(event, task.id, index)}
        >
          {moving ? <Loader size={12} aria-label={t('overview.moving')} /> : <IconGripVertical size={15} stroke={1.6} aria-hidden />}
        </button>
        <span className={classes.number}>{place ?? <span aria-hidden>‖</span>}</span>
      </span>
      <span role="gridcell" className={classes.task}>
        <Link href={`/tasks/${task.id}`} className={classes.name} tabIndex={tabIndex} title={task.name}>
          <bdi>{task.name}</bdi>
        </Link>
        {(task.held || task.state === 'preparing') && <StateBadge task={task} />}
      </span>
      <span role="gridcell" className={classes.wants} title={wants}>
        {wants}
      </span>
      <span role="gridcell" className={classes.priority} data-usual={task.priority === 0 || undefined}>
        {priorityWords(task.priority, t)}
      </span>
      <span role="gridcell" className={classes.since}>
        <Since from={task.submitted_at} />
      </span>
      <span role="gridcell" className={classes.reason} title={reason}>
        <span className={classes.sentence}>{reason}</span>
      </span>
      <span role="gridcell" className={classes.menu}>
        <TaskMenu
          task={task}
          tabIndex={tabIndex}
          opened={isOpen}
          onChange={(opened) => deeds.openMenu(opened ? task.id : null)}
          before={
            <>
              <Menu.Divider />
              <Menu.Item disabled={index === 0} onClick={() => deeds.moveTo(task.id, 0)}>
                {t('overview.move_first')}
              </Menu.Item>
              <Menu.Item disabled={index === 0} onClick={() => deeds.moveTo(task.id, index - 1)} rightSection={<kbd className={classes.kbd}>Alt ↑</kbd>}>
                {t('overview.move_up')}
              </Menu.Item>
              <Menu.Item disabled={index === deeds.last} onClick={() => deeds.moveTo(task.id, index + 1)} rightSection={<kbd className={classes.kbd}>Alt ↓</kbd>}>
                {t('overview.move_down')}
              </Menu.Item>
              <Menu.Item onClick={() => deeds.setPriority(task)}>{t('overview.set_priority')}</Menu.Item>
              <Menu.Divider />
            </>
          }
        />
      </span>
    </>
  );
});
