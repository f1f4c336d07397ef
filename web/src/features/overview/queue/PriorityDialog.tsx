// Sets the priority of one waiting task: three names that people use, or any whole number, kept as it was typed.
import { Button, Group, Modal, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { beginAct, endAct, usePrioritise } from '@/features/tasks';
import { useActs } from '@/features/tasks/list';
import { detailOf, type Task } from '@/lib/api';
import { useWords } from '@/lib/words';
import { readPriority } from './wants';

export function PriorityDialog(props: { task: Task | null; onClose: () => void }) {
  const { t } = useWords();
  const [shown, setShown] = useState(props.task);
  if (props.task && props.task !== shown) setShown(props.task);
  return (
    <Modal opened={props.task !== null} onClose={props.onClose} centered withCloseButton={false} title={t('overview.priority_title', { name: shown?.name ?? '' })} styles={{ title: { overflowWrap: 'anywhere', fontWeight: 650 } }}>
      {shown && <Form key={shown.id} task={shown} onClose={props.onClose} />}
    </Modal>
  );
}

function Form({ task, onClose }: { task: Task; onClose: () => void }) {
  const { t } = useWords();
  const queries = useQueryClient();
  const { refuse } = useActs();
  const { mutateAsync: prioritise } = usePrioritise();
  const [text, setText] = useState(String(task.priority));
  const [refused, setRefused] = useState(false);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const priority = readPriority(text);
    if (priority === null) return setRefused(true);
    onClose();
    if (priority === task.priority) return;
    beginAct(task, 'priority');
    try {
      await prioritise({ tasks: [task.id], priority });
    } catch (error) {
      endAct(task.id);
      refuse(detailOf(error, t('app.unreachable')));
    }
    void queries.invalidateQueries({ queryKey: ['tasks'] });
  };
  const names: [string, number][] = [
    [t('overview.priority_high'), 100],
    [t('overview.priority_normal'), 0],
    [t('overview.priority_low'), -100],
  ];
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Group gap="xs" mb="sm">
        {names.map(([name, value]) => (
          <Button key={value} size="compact-sm" variant={readPriority(text) === value ? 'light' : 'default'} aria-pressed={readPriority(text) === value} onClick={() => setText(String(value))}>
            {name}
          </Button>
        ))}
      </Group>
      <TextInput
        data-autofocus
        label={t('overview.priority_number')}
        description={t('overview.priority_help')}
        inputMode="numeric"
        value={text}
        error={refused && readPriority(text) === null ? t('overview.priority_help') : undefined}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Group justify="flex-end" mt="lg" gap="sm">
        <Button variant="default" onClick={onClose}>
          {t('tasks.keep')}
        </Button>
        <Button type="submit">{t('overview.priority_do')}</Button>
      </Group>
    </form>
  );
}
