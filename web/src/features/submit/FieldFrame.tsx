// What every field of the page has around it: its label, whether it differs from the task it came from, what is wrong with it.
import { UnstyledButton } from '@mantine/core';
import { IconArrowBackUp } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useWords } from '@/lib/words';
import type { Field } from './draft';
import { idOf, type Form } from './useForm';
import classes from './NewTask.module.css';

export function FieldFrame(props: { form: Form; field: Field; label: string; hint?: ReactNode; optional?: boolean; children: (input: InputProps) => ReactNode; group?: boolean }) {
  const { t } = useWords();
  const { form, field, label } = props;
  const id = idOf(field);
  const wrong = form.wrong(field);
  const described = [props.hint ? `${id}-hint` : '', wrong ? `${id}-wrong` : ''].filter(Boolean).join(' ') || undefined;
  const words = (
    <>
      {label}
      {props.optional && <span className={classes.optional}>{t('submit.optional')}</span>}
    </>
  );
  return (
    <div className={classes.field} data-changed={form.changed(field) || undefined} role={props.group ? 'group' : undefined} aria-labelledby={props.group ? `${id}-label` : undefined}>
      <div className={classes.labelLine}>
        {props.group ? (
          <span className={classes.label} id={`${id}-label`}>
            {words}
          </span>
        ) : (
          <label className={classes.label} htmlFor={id} id={`${id}-label`}>
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
      {props.children({ id, 'aria-describedby': described, 'aria-invalid': wrong ? true : undefined, error: wrong !== undefined })}
      {props.hint && (
        <div className={classes.hint} id={`${id}-hint`}>
          {props.hint}
        </div>
      )}
      <div className={classes.wrong} id={`${id}-wrong`} role="alert">
        {wrong}
      </div>
    </div>
  );
}

export interface InputProps {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
  error: boolean;
}
