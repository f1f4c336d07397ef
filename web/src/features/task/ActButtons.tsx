// The buttons of a task's head: one look for all, a loader on the one that is under way, a question before what cannot be undone.
import { ActionIcon, Alert, Button, Group, Menu, Modal, Text } from '@mantine/core';
import { IconArrowBarToUp, IconCopy, IconDots, IconPlayerPause, IconPlayerPlay, IconPlayerStop, IconRefresh, IconTrash } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import type { TaskDetail } from '@/lib/api';
import { useWords } from '@/lib/words';
import { actsOf, type Act } from './actions';
import { actsAtHand } from './outcome';
import type { Acts } from './useActs';
import classes from './Task.module.css';

const icons: Partial<Record<Act, ReactNode>> = {
  cancel: <IconPlayerStop size={15} stroke={1.7} aria-hidden />,
  kill: <IconPlayerStop size={15} stroke={1.7} aria-hidden />,
  hold: <IconPlayerPause size={15} stroke={1.7} aria-hidden />,
  release: <IconPlayerPlay size={15} stroke={1.7} aria-hidden />,
  retry: <IconRefresh size={15} stroke={1.7} aria-hidden />,
  first: <IconArrowBarToUp size={15} stroke={1.7} aria-hidden />,
  clone: <IconCopy size={15} stroke={1.7} aria-hidden />,
  remove: <IconTrash size={15} stroke={1.7} aria-hidden />,
};
const asks = new Set<Act>(['cancel', 'kill', 'remove']);
const kButtons = 3; // the others go into the menu, so that the head keeps its width

function useActWords() {
  const { t } = useWords();
  return (act: Act, running: boolean): string =>
    ({
      cancel: running ? t('task.act_stop') : t('task.act_cancel'),
      kill: t('task.act_kill'),
      hold: t('task.act_hold'),
      release: t('task.act_release'),
      retry: t('task.act_retry'),
      first: t('task.act_first'),
      priority: t('task.priority'),
      clone: t('task.act_clone'),
      remove: t('task.act_remove'),
    })[act];
}

export function ActButtons(props: { task: TaskDetail; acts: Acts }) {
  const { t } = useWords();
  const { task, acts } = props;
  const words = useActWords();
  const [question, setQuestion] = useState<Act | null>(null);
  const atHand = actsAtHand(task);
  const open = actsOf(task).filter((act) => !atHand.includes(act));
  const running = task.state !== 'waiting';
  const press = (act: Act) => (asks.has(act) ? setQuestion(act) : acts.run(act));
  // The question is about a state that has passed: nothing is left to ask.
  const asked = question !== null && open.includes(question) ? question : null;
  const buttons = open.slice(0, kButtons);
  const rest = open.slice(kButtons);
  return (
    <>
      <Group gap={6} wrap="nowrap" className={classes.acts}>
        {buttons.map((act) => (
          <Button
            key={act}
            size="compact-sm"
            variant="default"
            className={act === 'cancel' || act === 'kill' || act === 'remove' ? classes.danger : undefined}
            leftSection={icons[act]}
            loading={acts.locked === act}
            disabled={acts.locked !== null && acts.locked !== act}
            onClick={() => press(act)}
          >
            {words(act, running)}
          </Button>
        ))}
        {rest.length > 0 && (
          <Menu position="bottom-end" withinPortal>
            <Menu.Target>
              <ActionIcon variant="default" size={26} aria-label={t('task.act_more')} loading={acts.locked !== null && rest.includes(acts.locked)} disabled={acts.locked !== null}>
                <IconDots size={16} stroke={1.7} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              {rest.map((act) => (
                <Menu.Item key={act} leftSection={icons[act]} onClick={() => press(act)}>
                  {words(act, running)}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        )}
      </Group>
      <Modal opened={asked !== null} onClose={() => setQuestion(null)} title={asked ? words(asked, running) : ''} closeButtonProps={{ 'aria-label': t('task.close') }} centered size="sm">
        <Text size="sm" className={classes.question}>
          {asked === 'remove' ? t('task.ask_remove', { id: task.id, name: task.name }) : asked === 'kill' ? t('task.ask_kill', { id: task.id, name: task.name }) : running ? t('task.ask_stop', { id: task.id, name: task.name }) : t('task.ask_cancel', { id: task.id, name: task.name })}
        </Text>
        <Group justify="flex-end" mt="md" gap="xs">
          <Button variant="default" size="xs" onClick={() => setQuestion(null)}>
            {t('task.ask_no')}
          </Button>
          <Button
            color="red"
            size="xs"
            data-autofocus
            onClick={() => {
              if (asked) acts.run(asked);
              setQuestion(null);
            }}
          >
            {asked ? words(asked, running) : ''}
          </Button>
        </Group>
      </Modal>
    </>
  );
}

/** What the yard said to the last act, until it is put away. */
export function ActSaid(props: { acts: Acts }) {
  const { t } = useWords();
  if (!props.acts.said) return null;
  return (
    <Alert color="red" variant="light" p="xs" mt="xs" withCloseButton closeButtonLabel={t('task.close')} onClose={props.acts.hush} role="alert">
      {props.acts.said}
    </Alert>
  );
}
