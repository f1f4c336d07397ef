// Who this task is and how it stands, in two lines; what can be done with it at the right.
import { Button, Group, Popover, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Since } from '@/components/Since';
import { StateBadge } from '@/components/StateBadge';
import { devicesQuery } from '@/features/devices';
import type { Device, TaskDetail } from '@/lib/api';
import { useWords } from '@/lib/words';
import { ActButtons, ActSaid } from './ActButtons';
import type { Acts } from './useActs';
import classes from './Task.module.css';

/** Labels people know ("GPU0") of the ids that tasks hold. */
export function useLabels(): (id: string) => string {
  const { data } = useQuery({ ...devicesQuery, select: labelsOf });
  return (id) => data?.[id] ?? id;
}
const labelsOf = (list: { items: Device[] }) => Object.fromEntries(list.items.map((device) => [device.id, device.label]));

export function Head(props: { task: TaskDetail; acts: Acts }) {
  const { t } = useWords();
  const { task, acts } = props;
  const label = useLabels();
  const running = task.state !== 'waiting' && task.state !== 'preparing' && task.state !== 'ended';
  return (
    <header className={classes.head}>
      <div className={classes.headLine}>
        <h1 className={classes.name} title={task.name}>
          <bdi>{task.name}</bdi>
        </h1>
        <span className={classes.id}>#{task.id}</span>
        <StateBadge task={task} />
        <ActButtons task={task} acts={acts} />
      </div>
      <ul className={classes.facts} aria-label={t('task.at_a_glance')}>
        {task.devices.length > 0 && (
          <li className={classes.devices} title={task.devices.map(label).join(', ')}>
            {task.devices.map(label).join(', ')}
            {task.share && ` · ${task.share}`}
          </li>
        )}
        {task.attempt !== null && task.attempts.length > 1 && <li>{t('task.run', { number: task.attempt })}</li>}
        {task.state === 'ended' && task.started_at && task.ended_at && (
          <>
            <li>
              {t('task.took')} <Since from={task.started_at} to={task.ended_at} />
            </li>
            <li>
              {t('task.ended')} <Since from={task.ended_at} />
              {t('task.ago')}
            </li>
          </>
        )}
        {running && task.started_at && (
          <li>
            {t('task.running_for')} <Since from={task.started_at} />
          </li>
        )}
        {(task.state === 'waiting' || task.state === 'preparing') && (
          <li>
            {t('task.waiting_for')} <Since from={task.submitted_at} />
          </li>
        )}
        <li>{task.state === 'ended' ? t('task.priority_is', { priority: task.priority }) : <Priority task={task} acts={acts} />}</li>
        {task.tags.map((tag) => (
          <li key={tag} className={classes.tag} title={tag}>
            <bdi>{tag}</bdi>
          </li>
        ))}
      </ul>
      <ActSaid acts={acts} />
    </header>
  );
}

function Priority(props: { task: TaskDetail; acts: Acts }) {
  const { t } = useWords();
  const { task, acts } = props;
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const number = /^[+-]?\d{1,7}$/.test(typed.trim()) ? Number(typed) : null;
  const give = (priority: number) => {
    setOpen(false);
    if (priority !== task.priority) acts.run('priority', priority);
  };
  return (
    <Popover opened={open} onChange={setOpen} position="bottom-start" trapFocus returnFocus withArrow>
      <Popover.Target>
        <Button variant="subtle" color="gray" size="compact-xs" className={classes.priority} loading={acts.locked === 'priority'} disabled={acts.locked !== null} onClick={() => {
          setTyped(String(task.priority));
          setOpen(!open);
        }}>
          {t('task.priority_is', { priority: task.priority })}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Group gap={6} mb={8} wrap="nowrap">
          {([100, 0, -100] as const).map((priority) => (
            <Button key={priority} size="compact-xs" variant={task.priority === priority ? 'light' : 'default'} onClick={() => give(priority)}>
              {{ '100': t('task.priority_high'), '0': t('task.priority_normal'), '-100': t('task.priority_low') }[String(priority) as '100' | '0' | '-100']}
            </Button>
          ))}
        </Group>
        <Group gap={6} wrap="nowrap">
          <TextInput
            size="xs"
            w={96}
            inputMode="numeric"
            aria-label={t('task.priority')}
            value={typed}
            error={typed.trim() !== '' && number === null}
            onChange={(event) => setTyped(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && number !== null && !event.nativeEvent.isComposing && event.keyCode !== 229) give(number);
            }}
          />
          <Button size="xs" disabled={number === null} onClick={() => number !== null && give(number)}>
            {t('task.priority_set')}
          </Button>
        </Group>
      </Popover.Dropdown>
    </Popover>
  );
}
