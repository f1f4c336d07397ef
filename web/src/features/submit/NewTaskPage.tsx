// A new task: fields at the left, at the right what would come of them. /new?like=12 begins with what task 12 was asked with.
import { Anchor, Button, Center, Loader, UnstyledButton } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState, type KeyboardEvent } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { taskQuery } from '@/features/tasks';
import { ApiProblem, detailOf, type TaskDetail } from '@/lib/api';
import { useWords } from '@/lib/words';
import { newestQuery } from './api';
import { cloneOf, type Clone } from './clone';
import { wordText } from '@/lib/shell';
import { emptyDraft, keptCopy, keptDraft, type Draft } from './draft';
import { MainFields, type Shells } from './MainFields';
import { MoreFields } from './MoreFields';
import { Preview } from './Preview';
import { refusalByField } from './spec';
import { useForm } from './useForm';
import { useSubmit } from './useSubmit';
import classes from './NewTask.module.css';

export function NewTaskPage() {
  const { t } = useWords();
  const like = /^\d{1,15}$/.exec(new URLSearchParams(useSearch()).get('like') ?? '');
  const id = like ? Number(like[0]) : null;
  const model = useQuery({ ...taskQuery(id ?? 0), enabled: id !== null });
  const newest = useQuery(newestQuery);
  if ((id !== null && model.isPending) || newest.isPending) {
    return (
      <Center h="40vh">
        <Loader aria-label={t('app.loading')} />
      </Center>
    );
  }
  const missing = id !== null && model.error ? detailOf(model.error, t('app.unreachable')) : undefined;
  return <Writing key={id ?? 'new'} model={model.data} missing={missing} newest={newest.data ?? undefined} />;
}

/** Where the newest task ran, and with whose variables: most likely the next one goes there too. */
function likeNewest(newest: TaskDetail | undefined): Draft {
  if (!newest) return emptyDraft;
  return { ...emptyDraft, folder: wordText(newest.spec.workdir).text, environmentOf: newest.spec.environment?.variables ? newest.id : null };
}

function Writing(props: { model: TaskDetail | undefined; missing: string | undefined; newest: TaskDetail | undefined }) {
  const { t } = useWords();
  const { model, newest } = props;
  const [, navigate] = useLocation();
  // Made once: the task may move on while a copy of it is written.
  const [clone] = useState<Clone | null>(() => (model ? cloneOf(model, new Date()) : null));
  const [fresh] = useState(() => clone?.draft ?? likeNewest(newest));
  const [initial] = useState(() => (clone ? keptCopy(clone.draft) : keptDraft()) ?? fresh);
  const { form, marked, wrongAtAll, preview, take, refuse, forget, spec, stale, leftOut, shellSize } = useForm({ initial, fresh, base: clone?.draft ?? null });
  const submit = useSubmit((id) => {
    forget();
    navigate(`/tasks/${id}`);
  });

  const shells = useMemo<Shells>(() => {
    const choices = new Map<number, string>();
    if (initial.environmentOf !== null) choices.set(initial.environmentOf, initial.environmentOf === model?.id ? model.name : initial.environmentOf === newest?.id ? newest.name : '');
    for (const task of [model, newest]) if (task?.spec.environment?.variables) choices.set(task.id, task.name);
    return { choices: [...choices].map(([id, name]) => ({ id, name })), size: shellSize, leftOut };
  }, [initial, model, newest, shellSize, leftOut]);

  const send = () => {
    if (submit.isPending) return;
    const spec = take();
    if (!spec) return;
    submit.mutate({ wish: form.draft, spec }, { onError: (error) => error instanceof ApiProblem && error.problem && refuse(refusalByField(error.problem)) });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    send();
  };

  const unreachable = [submit.error, preview.error].find((error) => error && !(error instanceof ApiProblem && error.problem));
  const trouble = wrongAtAll ?? (unreachable ? detailOf(unreachable, t('app.unreachable')) : undefined);
  return (
    <div className={classes.page} onKeyDown={onKeyDown}>
      <div className={classes.head}>
        <h1 className={classes.title}>{model ? t('submit.title_like', { id: model.id }) : t('submit.title')}</h1>
        {model && (
          <Anchor component={Link} href={`/tasks/${model.id}`} size="sm" className={classes.modelName} title={model.name}>
            {model.name}
          </Anchor>
        )}
      </div>
      <Notes clone={clone} missing={props.missing} />
      <div className={classes.columns}>
        <div className={classes.fields}>
          <MainFields form={form} shells={shells} />
          <UnstyledButton className={classes.more} aria-expanded={form.more} aria-controls="new-task-more" onClick={() => form.setMore(!form.more)}>
            <IconChevronRight size={16} stroke={1.8} aria-hidden className={classes.chevron} data-open={form.more || undefined} />
            <span className={classes.moreWord}>{t('submit.more')}</span>
            <span className={classes.moreNames}>{t('submit.more_names')}</span>
          </UnstyledButton>
          <div id="new-task-more" className={classes.moreFields} hidden={!form.more}>
            {form.more && <MoreFields form={form} />}
          </div>
        </div>
        <Preview spec={spec} answer={preview.data} trouble={trouble} faulty={marked} stale={stale} sending={submit.isPending} onSend={send} />
      </div>
    </div>
  );
}

function Notes(props: { clone: Clone | null; missing: string | undefined }) {
  const { t } = useWords();
  const { clone, missing } = props;
  if (missing) {
    return (
      <div className={classes.note} role="note">
        {missing}{' '}
        <Button component={Link} href="/new" variant="subtle" size="compact-xs">
          {t('submit.begin_empty')}
        </Button>
      </div>
    );
  }
  const notes = [clone?.masked.length ? t('submit.note_masked', { names: clone.masked.join(', ') }) : '', clone?.damaged ? t('submit.note_damaged') : ''].filter(Boolean);
  if (notes.length === 0) return null;
  return (
    <div className={classes.note} role="note">
      {notes.join(' ')}
    </div>
  );
}
