// The tasks this one waits for: found by number or name, each with how it has to end.
import { ActionIcon, Autocomplete, NativeSelect, Text } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import { StateBadge } from '@/components/StateBadge';
import { listQuery } from '@/features/tasks';
import { useWords } from '@/lib/words';
import type { On } from './draft';
import { FieldFrame } from './FieldFrame';
import type { Form } from './useForm';
import classes from './NewTask.module.css';

const kOffered = 30;

export function AfterField(props: { form: Form }) {
  const { t } = useWords();
  const { draft, set } = props.form;
  const [typed, setTyped] = useState('');
  const [asked, setAsked] = useState(false);
  const added = useRef(''); // the list writes what was chosen into the field once more
  const list = useInfiniteQuery({ ...listQuery({ limit: 500 }), enabled: asked || draft.after.length > 0 });
  const tasks = useMemo(() => new Map((list.data?.pages[0]?.items ?? []).map((task) => [task.id, task])), [list.data]);
  const offered = useMemo(() => {
    const words = typed.trim().replace(/^#/, '').toLowerCase();
    const chosen = new Set(draft.after.map((after) => after.task));
    const found = [...tasks.values()].filter((task) => !chosen.has(task.id) && (words === '' || String(task.id).startsWith(words) || task.name.toLowerCase().includes(words)));
    return found.slice(0, kOffered);
  }, [tasks, typed, draft.after]);

  const add = (id: number) => {
    if (!draft.after.some((after) => after.task === id)) set({ after: [...draft.after, { task: id, name: tasks.get(id)?.name ?? '', on: 'ok' }] });
    added.current = String(id);
    setTyped('');
  };
  return (
    <FieldFrame form={props.form} field="after" group label={t('submit.after')} optional hint={draft.after.length === 0 ? t('submit.after_hint') : undefined}>
      {(input) => (
        <div className={classes.after}>
          {draft.after.map((after) => {
            const task = tasks.get(after.task);
            const named = `#${after.task} ${task?.name ?? after.name}`;
            return (
              <div key={after.task} className={classes.afterLine}>
                <span className={classes.afterName} title={named}>
                  {named}
                </span>
                {task && <StateBadge task={task} />}
                <NativeSelect
                  size="xs"
                  aria-label={t('submit.after_on', { task: named })}
                  value={after.on}
                  onChange={(event) => set({ after: draft.after.map((other) => (other.task === after.task ? { ...other, on: event.currentTarget.value as On } : other)) })}
                  data={[
                    { value: 'ok', label: t('submit.after_ok') },
                    { value: 'any', label: t('submit.after_any') },
                    { value: 'fail', label: t('submit.after_fail') },
                  ]}
                />
                <ActionIcon variant="subtle" color="gray" size="sm" aria-label={t('submit.after_remove', { task: named })} onClick={() => set({ after: draft.after.filter((other) => other.task !== after.task) })}>
                  <IconX size={15} stroke={1.6} />
                </ActionIcon>
              </div>
            );
          })}
          <Autocomplete
            {...input}
            aria-label={t('submit.after')}
            size="sm"
            placeholder={t('submit.after_find')}
            value={typed}
            onFocus={() => setAsked(true)}
            onChange={(value) => {
              setTyped(value === added.current ? '' : value);
              added.current = '';
            }}
            data={offered.map((task) => String(task.id))}
            filter={({ options }) => options}
            renderOption={({ option }) => {
              const task = tasks.get(Number(option.value));
              return task ? (
                <span className={classes.afterOption}>
                  <span className={classes.afterName}>{`#${task.id} ${task.name}`}</span>
                  <StateBadge task={task} />
                </span>
              ) : (
                <Text size="sm">{option.value}</Text>
              );
            }}
            onOptionSubmit={(value) => add(Number(value))}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.ctrlKey || event.metaKey || event.nativeEvent.isComposing || event.keyCode === 229) return;
              const number = /^#?(\d{1,15})$/.exec(typed.trim());
              if (!number) return;
              event.preventDefault();
              add(Number(number[1]));
            }}
          />
        </div>
      )}
    </FieldFrame>
  );
}
