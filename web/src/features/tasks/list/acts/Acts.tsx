// Acts does to tasks what a menu or a button below it asks for: it asks back where that is wise, locks what is under way, and
// shows a refusal above its place.
import { Button, Group, Modal, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { createContext, use, useCallback, useMemo, useState, type ReactNode } from 'react';
import { beginAct, endAct, pendingAct, type Verb } from '@/features/tasks';
import { detailOf, type Task } from '@/lib/api';
import { useWords, type Translate } from '@/lib/words';
import { Refusal } from './Refusal';
import { actOnEach, applies, isFinal } from './verbs';

interface Wish {
  verb: Verb;
  tasks: Task[];
  /** Selected, but not what the verb is for. */
  others: number;
}
interface Doer {
  /** Does it, after a question when it is final or meant for several. */
  ask: (verb: Verb, tasks: readonly Task[]) => void;
  /** Shows a sentence above this place. */
  refuse: (text: string) => void;
}
const Context = createContext<Doer | null>(null);

export function useActs(): Doer {
  const doer = use(Context);
  if (!doer) throw new Error('useActs outside of Acts');
  return doer;
}

function question(wish: Wish, t: Translate) {
  const count = wish.tasks.length;
  const name = wish.tasks[0]?.name ?? '';
  switch (wish.verb) {
    case 'cancel':
      return { title: count === 1 ? t('tasks.ask_cancel_one', { name }) : t('tasks.ask_cancel', { count }), text: t('tasks.ask_cancel_text'), yes: t('tasks.do_cancel', { count }) };
    case 'hold':
      return { title: t('tasks.ask_hold', { count }), text: t('tasks.ask_hold_text'), yes: t('tasks.do_hold', { count }) };
    case 'release':
      return { title: t('tasks.ask_release', { count }), text: t('tasks.ask_release_text'), yes: t('tasks.do_release', { count }) };
    case 'retry':
      return { title: t('tasks.ask_retry', { count }), text: t('tasks.ask_retry_text'), yes: t('tasks.do_retry', { count }) };
    case 'remove':
      return { title: count === 1 ? t('tasks.ask_remove_one', { name }) : t('tasks.ask_remove', { count }), text: t('tasks.ask_remove_text'), yes: t('tasks.do_remove', { count }) };
  }
}

export function Acts(props: { children: ReactNode; onDone?: (verb: Verb, tasks: readonly Task[]) => void }) {
  const { t } = useWords();
  const queries = useQueryClient();
  const { onDone } = props;
  const [wish, setWish] = useState<Wish | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);

  const act = useCallback(
    async (verb: Verb, tasks: readonly Task[]) => {
      setRefusal(null);
      for (const task of tasks) beginAct(task, verb);
      try {
        const refused = await actOnEach(verb, tasks.map((task) => task.id));
        for (const { id } of refused) endAct(id);
        const first = refused[0];
        if (first) setRefusal(tasks.length === 1 ? first.detail : t('tasks.refused_some', { refused: refused.length, count: tasks.length, detail: first.detail }));
        onDone?.(verb, tasks);
      } catch (error) {
        for (const task of tasks) endAct(task.id);
        setRefusal(detailOf(error, t('app.unreachable')));
      }
      void queries.invalidateQueries({ queryKey: ['tasks'] });
    },
    [queries, t, onDone],
  );

  const doer = useMemo<Doer>(
    () => ({
      ask: (verb, selected) => {
        // What is under way with a task comes first.
        const tasks = selected.filter((task) => applies(verb, task) && pendingAct(task) === null);
        if (tasks.length === 0) return;
        if (isFinal(verb) || selected.length > 1) setWish({ verb, tasks, others: selected.length - tasks.length });
        else void act(verb, tasks);
      },
      refuse: setRefusal,
    }),
    [act],
  );

  return (
    <Context value={doer}>
      <Refusal text={refusal} onClose={() => setRefusal(null)} />
      {props.children}
      <Question
        wish={wish}
        onAnswer={(yes) => {
          if (yes && wish) void act(wish.verb, wish.tasks);
          setWish(null);
        }}
      />
    </Context>
  );
}

function Question(props: { wish: Wish | null; onAnswer: (yes: boolean) => void }) {
  const { t } = useWords();
  // The words stay while the dialog fades away.
  const [shown, setShown] = useState(props.wish);
  if (props.wish && props.wish !== shown) setShown(props.wish);
  const asked = shown && question(shown, t);
  return (
    <Modal opened={props.wish !== null} onClose={() => props.onAnswer(false)} title={asked?.title} centered withCloseButton={false} styles={{ title: { overflowWrap: 'anywhere', fontWeight: 650 } }}>
      {asked && shown && (
        <>
          <Text size="sm">{asked.text}</Text>
          {shown.others > 0 && (
            <Text size="sm" c="dimmed" mt="xs">
              {t('tasks.others_selected', { count: shown.others })}
            </Text>
          )}
          <Group justify="flex-end" mt="lg" gap="sm">
            {/* The safe answer has the focus. */}
            <Button variant="default" data-autofocus onClick={() => props.onAnswer(false)}>
              {t('tasks.keep')}
            </Button>
            <Button color={isFinal(shown.verb) ? 'red' : undefined} onClick={() => props.onAnswer(true)}>
              {asked.yes}
            </Button>
          </Group>
        </>
      )}
    </Modal>
  );
}
