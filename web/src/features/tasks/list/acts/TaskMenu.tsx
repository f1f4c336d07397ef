// The menu of one task: three dots that turn into a loader while something asked for is under way.
import { ActionIcon, Loader, Menu } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { usePendingAct, type Verb } from '@/features/tasks';
import type { Task } from '@/lib/api';
import { useWords, type Translate } from '@/lib/words';
import { useActs } from './Acts';
import { applies, isFinal, verbs } from './verbs';
import classes from './TaskMenu.module.css';

export const verbWord = (verb: Verb, t: Translate) =>
  ({ cancel: t('tasks.cancel'), hold: t('tasks.hold'), release: t('tasks.release'), retry: t('tasks.retry'), remove: t('tasks.remove') })[verb];

const doingWord = (what: string, t: Translate) =>
  ({ cancel: t('tasks.doing_cancel'), hold: t('tasks.doing_hold'), release: t('tasks.doing_release'), retry: t('tasks.doing_retry'), remove: t('tasks.doing_remove') })[what] ?? t('act.done_waiting');

export function TaskMenu(props: { task: Task; tabIndex?: number; before?: ReactNode; opened?: boolean; onChange?: (opened: boolean) => void }) {
  const { t } = useWords();
  const { ask } = useActs();
  const { task } = props;
  const doing = usePendingAct(task);
  const [own, setOwn] = useState(false);
  const [wanted, setWanted] = useState(false); // once: a menu of its own in each of a thousand rows is what scrolling pays for
  const opened = props.opened ?? own;
  const change = (next: boolean) => {
    setWanted(true);
    setOwn(next);
    props.onChange?.(next);
  };
  if (doing)
    return (
      <span role="status" aria-label={`${task.name}: ${doingWord(doing, t)}`} title={doingWord(doing, t)}>
        <Loader size={16} aria-hidden />
      </span>
    );
  const target = { variant: 'subtle', color: 'gray', size: 'md', tabIndex: props.tabIndex, 'aria-label': t('tasks.menu', { name: task.name }), children: <IconDots size={17} stroke={1.7} /> } as const;
  if (!wanted && !opened) return <ActionIcon {...target} aria-haspopup="menu" aria-expanded={false} onClick={() => change(true)} />;
  const finals = verbs.filter((verb) => isFinal(verb) && applies(verb, task));
  return (
    <Menu position="bottom-end" width={220} opened={opened} onChange={change} returnFocus withinPortal withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <ActionIcon {...target} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component={Link} href={`/tasks/${task.id}`}>
          {t('tasks.open')}
        </Menu.Item>
        {props.before}
        {verbs
          .filter((verb) => !isFinal(verb) && applies(verb, task))
          .map((verb) => (
            <Menu.Item key={verb} onClick={() => ask(verb, [task])}>
              {verbWord(verb, t)}
            </Menu.Item>
          ))}
        {finals.length > 0 && <Menu.Divider />}
        {finals.map((verb) => (
          <Menu.Item key={verb} className={classes.final} onClick={() => ask(verb, [task])}>
            {verb === 'cancel' ? t('tasks.cancel_dots') : t('tasks.remove_dots')}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
