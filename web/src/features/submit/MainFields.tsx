// The fields that every task needs an answer to: what runs, where, with which variables and devices, under which name.
import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import { useDeferredValue, useMemo } from 'react';
import { useWords } from '@/lib/words';
import { readCommand } from '@/lib/shell';
import { FieldFrame } from './FieldFrame';
import type { Form } from './useForm';
import classes from './NewTask.module.css';

export interface Shells {
  /** Tasks whose shell may be taken, the most likely first. */
  choices: { id: number; name: string }[];
  size: number;
  leftOut: string[];
}

export function MainFields(props: { form: Form; shells: Shells }) {
  const { t } = useWords();
  const { form, shells } = props;
  const { draft, set } = form;
  return (
    <>
      <FieldFrame form={form} field="command" label={t('submit.command')} hint={<CommandHint text={draft.command} />}>
        {(input) => (
          <Textarea {...input} data-autofocus autosize minRows={3} maxRows={16} spellCheck={false} autoCapitalize="off" autoCorrect="off" classNames={{ input: classes.mono }} placeholder={t('submit.command_example')} value={draft.command} onChange={(event) => set({ command: event.currentTarget.value })} />
        )}
      </FieldFrame>
      <FieldFrame form={form} field="folder" label={t('submit.folder')}>
        {(input) => <TextInput {...input} spellCheck={false} autoCapitalize="off" classNames={{ input: classes.mono }} placeholder="/home/…" value={draft.folder} onChange={(event) => set({ folder: event.currentTarget.value })} />}
      </FieldFrame>
      <div className={classes.pair}>
        <FieldFrame form={form} field="devices" label={t('submit.devices')} hint={t('submit.devices_hint')}>
          {(input) => <TextInput {...input} inputMode="text" spellCheck={false} placeholder="1" value={draft.devices} onChange={(event) => set({ devices: event.currentTarget.value })} />}
        </FieldFrame>
        <FieldFrame form={form} field="name" label={t('submit.name')} optional hint={t('submit.name_hint')}>
          {(input) => <TextInput {...input} spellCheck={false} value={draft.name} onChange={(event) => set({ name: event.currentTarget.value })} />}
        </FieldFrame>
      </div>
      <FieldFrame form={form} field="environment" label={t('submit.environment')} hint={<ShellHint shells={shells} chosen={draft.environmentOf !== null} />}>
        {(input) => (
          <NativeSelect
            {...input}
            value={String(draft.environmentOf ?? '')}
            onChange={(event) => set({ environmentOf: event.currentTarget.value === '' ? null : Number(event.currentTarget.value) })}
            data={[
              ...shells.choices.map(({ id, name }) => ({ value: String(id), label: t('submit.environment_of', { id, name }) })),
              { value: '', label: t('submit.environment_basic') },
            ]}
          />
        )}
      </FieldFrame>
    </>
  );
}

/** How the line will be run: by itself, or through a shell and why. */
function CommandHint(props: { text: string }) {
  const { t } = useWords();
  const text = useDeferredValue(props.text);
  const command = useMemo(() => readCommand(text), [text]);
  if (command.kind === 'words') return t('submit.command_words', { count: command.argv.length });
  if (command.kind !== 'shell') return t('submit.command_hint');
  const why = {
    operator: t('submit.shell_operator'),
    variable: t('submit.shell_variable'),
    pattern: t('submit.shell_pattern'),
    lines: t('submit.shell_lines'),
    assignment: t('submit.shell_assignment'),
    comment: t('submit.shell_comment'),
    home: t('submit.shell_home'),
    keyword: t('submit.shell_keyword'),
  }[command.reason];
  return t('submit.command_shell', { why });
}

function ShellHint(props: { shells: Shells; chosen: boolean }) {
  const { t } = useWords();
  const { size, leftOut } = props.shells;
  if (!props.chosen) return t('submit.environment_basic_hint');
  if (leftOut.length === 0) return t('submit.environment_hint', { count: size });
  return t('submit.environment_left_out', { count: size, names: leftOut.slice(0, 6).join(', ') + (leftOut.length > 6 ? ' …' : '') });
}
