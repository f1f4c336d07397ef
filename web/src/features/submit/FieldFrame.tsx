// What every field of the page has around it: its label, whether it differs from the task it came from, what is wrong with it.
import { UnstyledButton } from '@mantine/core';
import { IconArrowBackUp } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Unbroken } from '@/components/Unbroken';
import { useWords } from '@/lib/words';
import type { Field } from './draft';
import { idOf, type Form } from './useForm';
import classes from './NewTask.module.css';

interface FieldFrameProps {
  form: Form;
  field: Field;
  label: string;
  hint?: ReactNode;
  optional?: boolean;
  /** Several inputs, or one with a label of its own: then the frame says hint and fault, else the input does. */
  group?: boolean;
  children: (input: InputProps) => ReactNode;
}

export function FieldFrame(props: FieldFrameProps) {
  const { t } = useWords();
  const { form, field, label, hint, group } = props;
  const id = idOf(field);
  const wrong = form.wrong(field);
  const words = (
    <>
      {label}
      {props.optional && <span className={classes.optional}>{t('submit.optional')}</span>}
    </>
  );
  const described = group ? [hint ? `${id}-hint` : '', wrong ? `${id}-wrong` : ''].filter(Boolean).join(' ') || undefined : undefined;
  return (
    <div className={classes.field} data-changed={form.changed(field) || undefined} role={group ? 'group' : undefined} aria-labelledby={group ? `${id}-label` : undefined} aria-describedby={described}>
      <div className={classes.labelLine}>
        {group ? (
          <span className={classes.label} id={`${id}-label`}>
            {words}
          </span>
        ) : (
          <label className={classes.label} htmlFor={id}>
            {words}
          </label>
        )}
        {form.changed(field) && (
          <UnstyledButton className={classes.changed} onClick={() => form.reset(field)} aria-label={t('submit.reset', { field: label })} title={t('submit.reset', { field: label })}>
            {t('submit.changed')}
            <IconArrowBackUp size={13} stroke={1.8} aria-hidden />
          </UnstyledButton>
        )}
      </div>
      {group ? props.children({ id, error: wrong !== undefined }) : props.children({ id, error: wrong === undefined ? false : <Unbroken text={wrong} />, description: hint, ...below })}
      {group && hint && (
        <div className={classes.hint} id={`${id}-hint`}>
          {hint}
        </div>
      )}
      {group && wrong && (
        <div className={classes.wrong} id={`${id}-wrong`} role="alert">
          <Unbroken text={wrong} />
        </div>
      )}
    </div>
  );
}

/** What an input of Mantine's needs to belong to its frame; it ties hint and fault to itself. */
interface InputProps {
  id: string;
  error: ReactNode;
  description?: ReactNode;
  inputWrapperOrder?: ('label' | 'input' | 'description' | 'error')[];
  descriptionProps?: { className: string | undefined };
  errorProps?: { className: string | undefined; role: string };
}
const below: Partial<InputProps> = {
  inputWrapperOrder: ['label', 'input', 'description', 'error'],
  descriptionProps: { className: classes.hint },
  errorProps: { className: classes.wrong, role: 'alert' },
};
