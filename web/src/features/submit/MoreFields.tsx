// The fields that most tasks leave alone.
import { Checkbox, NativeSelect, SegmentedControl, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { formatTime } from '@/lib/format';
import { useWords } from '@/lib/words';
import { AfterField } from './AfterField';
import { readBegin } from './begin';
import { keptWords } from './clone';
import type { Draft } from './draft';
import { FieldFrame } from './FieldFrame';
import type { Form } from './useForm';
import { VariablesField } from './VariablesField';
import classes from './NewTask.module.css';

export function MoreFields(props: { form: Form }) {
  const { t } = useWords();
  const { form } = props;
  const { draft, set } = form;
  return (
    <>
      <VariablesField form={form} />
      <ShareField form={form} />
      <div className={classes.pair}>
        <FieldFrame form={form} field="gpu_memory" label={t('submit.gpu_memory')} optional hint={draft.share === 'whole' ? t('submit.gpu_memory_hint') : t('submit.gpu_memory_part_hint')}>
          {(input) => <TextInput {...input} spellCheck={false} placeholder="24G" value={draft.gpuMemory} onChange={(event) => set({ gpuMemory: event.currentTarget.value })} />}
        </FieldFrame>
        <FieldFrame form={form} field="ranks" group label={t('submit.ranks')} hint={t('submit.ranks_hint')}>
          {({ id }) => <Checkbox id={id} size="sm" label={t('submit.ranks_on')} checked={draft.ranks} onChange={(event) => set({ ranks: event.currentTarget.checked })} />}
        </FieldFrame>
      </div>
      <div className={classes.pair}>
        <PriorityField form={form} />
        <BeginField form={form} />
      </div>
      <AfterField form={form} />
      <div className={classes.pair}>
        <FieldFrame form={form} field="time" label={t('submit.time')} optional hint={t('submit.time_hint')}>
          {(input) => <TextInput {...input} spellCheck={false} placeholder="2h30m" value={draft.time} onChange={(event) => set({ time: event.currentTarget.value })} />}
        </FieldFrame>
        <FieldFrame form={form} field="retry" label={t('submit.retry')} optional hint={t('submit.retry_hint')}>
          {(input) => <TextInput {...input} inputMode="numeric" spellCheck={false} placeholder="1" value={draft.retry} onChange={(event) => set({ retry: event.currentTarget.value })} />}
        </FieldFrame>
      </div>
      <div className={classes.pair}>
        <FieldFrame form={form} field="tags" label={t('submit.tags')} optional hint={t('submit.tags_hint')}>
          {(input) => <TextInput {...input} spellCheck={false} value={draft.tags} onChange={(event) => set({ tags: event.currentTarget.value })} />}
        </FieldFrame>
        <FieldFrame form={form} field="hold" group label={t('submit.hold')} hint={t('submit.hold_hint')}>
          {({ id }) => <Checkbox id={id} size="sm" label={t('submit.hold_on')} checked={draft.hold} onChange={(event) => set({ hold: event.currentTarget.checked })} />}
        </FieldFrame>
      </div>
      <KeptField form={form} />
    </>
  );
}

function ShareField(props: { form: Form }) {
  const { t } = useWords();
  const { draft, set } = props.form;
  return (
    <FieldFrame form={props.form} field="share" group label={t('submit.share')} hint={{ whole: t('submit.share_whole_hint'), together: t('submit.share_together_hint'), turns: t('submit.share_turns_hint') }[draft.share]}>
      {(input) => (
        <div className={classes.line}>
          <SegmentedControl<Draft['share']>
            id={draft.share === 'whole' ? input.id : undefined}
            tabIndex={draft.share === 'whole' ? -1 : undefined}
            aria-label={t('submit.share')}
            size="xs"
            value={draft.share}
            onChange={(share) => set({ share })}
            data={[
              { value: 'whole', label: t('submit.share_whole') },
              { value: 'together', label: t('submit.share_together') },
              { value: 'turns', label: t('submit.share_turns') },
            ]}
          />
          {draft.share !== 'whole' && <TextInput {...input} className={classes.short} size="xs" aria-label={t('submit.part')} title={t('submit.part')} placeholder="0.5" value={draft.part} onChange={(event) => set({ part: event.currentTarget.value })} />}
          {draft.share === 'turns' && <TextInput className={classes.short} size="xs" aria-label={t('submit.slice')} title={t('submit.slice')} placeholder="30s" value={draft.slice} onChange={(event) => set({ slice: event.currentTarget.value })} />}
        </div>
      )}
    </FieldFrame>
  );
}

function PriorityField(props: { form: Form }) {
  const { t } = useWords();
  const { draft, set } = props.form;
  return (
    <FieldFrame form={props.form} field="priority" group label={t('submit.priority')} hint={t('submit.priority_hint')}>
      {(input) => (
        <div className={classes.line}>
          <NativeSelect
            {...input}
            aria-label={t('submit.priority')}
            className={classes.grow}
            value={draft.priority}
            onChange={(event) => set({ priority: event.currentTarget.value as Draft['priority'] })}
            data={[
              { value: 'high', label: t('submit.priority_high') },
              { value: 'normal', label: t('submit.priority_normal') },
              { value: 'low', label: t('submit.priority_low') },
              { value: 'number', label: t('submit.priority_number') },
            ]}
          />
          {draft.priority === 'number' && <TextInput className={classes.short} aria-label={t('submit.priority_number')} inputMode="numeric" placeholder="50" error={input.error} value={draft.priorityNumber} onChange={(event) => set({ priorityNumber: event.currentTarget.value })} />}
        </div>
      )}
    </FieldFrame>
  );
}

function BeginField(props: { form: Form }) {
  const { t, language } = useWords();
  const { draft, set } = props.form;
  const begin = useMemo(() => (draft.begin.trim() ? readBegin(draft.begin, new Date()) : null), [draft.begin]);
  return (
    <FieldFrame form={props.form} field="begin" label={t('submit.begin')} optional hint={begin ? t('submit.begin_at', { at: formatTime(begin.toISOString(), language) }) : t('submit.begin_hint')}>
      {(input) => <TextInput {...input} spellCheck={false} placeholder="22:00" value={draft.begin} onChange={(event) => set({ begin: event.currentTarget.value })} />}
    </FieldFrame>
  );
}

/** What the task it was cloned from has for which there is no field: seen, and gone with one press. */
function KeptField(props: { form: Form }) {
  const { t } = useWords();
  const { draft, set } = props.form;
  const words = keptWords(draft.kept);
  if (words.length === 0 && !props.form.changed('kept')) return null;
  return (
    <FieldFrame form={props.form} field="kept" group label={t('submit.kept')} hint={t('submit.kept_hint', { id: draft.like ?? 0 })}>
      {(input) => <Checkbox id={input.id} size="sm" classNames={{ label: classes.keptWords }} label={words.join(' · ') || t('submit.kept_none')} checked={words.length > 0} disabled={words.length === 0} onChange={() => set({ kept: {} })} />}
    </FieldFrame>
  );
}
