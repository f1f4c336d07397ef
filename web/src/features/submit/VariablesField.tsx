// Variables of the task, a line each. Values of secret ones are dots while nobody looks at them; a pasted .env becomes lines.
import { ActionIcon, Button, TextInput } from '@mantine/core';
import { IconEye, IconEyeOff, IconPlus, IconTrash } from '@tabler/icons-react';
import { useState, type ClipboardEvent } from 'react';
import { useWords } from '@/lib/words';
import { looksSecret } from './commandLine';
import type { Variable } from './draft';
import { FieldFrame } from './FieldFrame';
import type { Form } from './useForm';
import { readVariables } from './variables';
import classes from './NewTask.module.css';

export function VariablesField(props: { form: Form }) {
  const { t } = useWords();
  const { draft, set } = props.form;
  const lines = draft.variables;
  const change = (at: number, part: Partial<Variable>) => set({ variables: lines.map((line, index) => (index === at ? { ...line, ...part } : line)) });
  const paste = (at: number) => (event: ClipboardEvent<HTMLInputElement>) => {
    const found = readVariables(event.clipboardData.getData('text'));
    if (!found) return;
    event.preventDefault();
    const here = lines[at]!;
    set({ variables: [...lines.slice(0, at), ...(here.name || here.value ? [here] : []), ...found, ...lines.slice(at + 1)] });
  };
  return (
    <FieldFrame form={props.form} field="variables" group label={t('submit.variables')} hint={t('submit.variables_hint')}>
      {(input) => (
        <div className={classes.variables}>
          {lines.map((line, at) => (
            <VariableLine
              key={at}
              id={at === 0 ? input.id : undefined}
              line={line}
              number={at + 1}
              onChange={(part) => change(at, part)}
              onPaste={paste(at)}
              onRemove={() => set({ variables: lines.filter((_, index) => index !== at) })}
            />
          ))}
          <Button id={lines.length === 0 ? input.id : undefined} variant="default" size="compact-xs" leftSection={<IconPlus size={13} aria-hidden />} onClick={() => set({ variables: [...lines, { name: '', value: '' }] })}>
            {t('submit.variable_add')}
          </Button>
        </div>
      )}
    </FieldFrame>
  );
}

function VariableLine(props: { id: string | undefined; line: Variable; number: number; onChange: (part: Partial<Variable>) => void; onPaste: (event: ClipboardEvent<HTMLInputElement>) => void; onRemove: () => void }) {
  const { t } = useWords();
  const { line, number } = props;
  const [shown, setShown] = useState(false);
  const secret = looksSecret(line.name) || line.masked === true;
  const wanted = line.masked === true && line.value === '';
  return (
    <div className={classes.variable}>
      <TextInput id={props.id} size="xs" classNames={{ input: classes.monoSmall }} spellCheck={false} autoCapitalize="off" aria-label={t('submit.variable_name', { number })} placeholder="NAME" value={line.name} onPaste={props.onPaste} onChange={(event) => props.onChange({ name: event.currentTarget.value })} />
      <TextInput
        size="xs"
        classNames={{ input: classes.monoSmall }}
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        type={secret && !shown ? 'password' : 'text'}
        aria-label={t('submit.variable_value', { number })}
        placeholder={wanted ? t('submit.variable_again') : ''}
        value={line.value}
        onChange={(event) => props.onChange({ value: event.currentTarget.value })}
      />
      {secret ? (
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label={shown ? t('submit.variable_hide') : t('submit.variable_show')} aria-pressed={shown} onClick={() => setShown(!shown)}>
          {shown ? <IconEyeOff size={15} stroke={1.6} /> : <IconEye size={15} stroke={1.6} />}
        </ActionIcon>
      ) : (
        <span />
      )}
      <ActionIcon variant="subtle" color="gray" size="sm" aria-label={t('submit.variable_remove', { number })} onClick={props.onRemove}>
        <IconTrash size={15} stroke={1.6} />
      </ActionIcon>
    </div>
  );
}
