// The draft of the page with everything that fields need to know about themselves.
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { taskQuery } from '@/features/tasks';
import { ApiProblem } from '@/lib/api';
import { useWords } from '@/lib/words';
import { previewQuery } from './api';
import { differences, fields, keepDraft, mainFields, withFieldOf, type Draft, type Field } from './draft';
import { refusalByField, specOf, variableFaults, type FieldFault } from './spec';

const kPause = 300; // ms without a key before the yard is asked

/** Nobody has to be told of these before wanting to send. */
const patient = new Set<FieldFault['fault']>(['command_missing', 'folder_missing']);

export interface Form {
  draft: Draft;
  set: (change: Partial<Draft>) => void;
  /** What is wrong with a field; undefined when nothing is known to be. */
  wrong: (field: Field) => string | undefined;
  /** Whether it differs from the task it was cloned from, and the way back. */
  changed: (field: Field) => boolean;
  reset: (field: Field) => void;
  more: boolean;
  setMore: (open: boolean) => void;
}

export const idOf = (field: Field) => `new-task-${field}`;

export function useForm(initial: Draft, base: Draft | null) {
  const { t } = useWords();
  const [draft, setDraft] = useState(initial);
  const [more, setMore] = useState(() => differences(initial, { ...initial, ...emptyMore }).size > 0);
  const [tried, setTried] = useState(false);
  const [refused, setRefused] = useState<{ draft: Draft; said: Map<Field | null, string> } | null>(null);

  const [settled] = useDebouncedValue(draft, kPause);
  const touched = useRef(false);
  useEffect(() => {
    if (touched.current) keepDraft(settled);
  }, [settled]);

  const shell = useQuery({ ...taskQuery(draft.environmentOf ?? 0), enabled: draft.environmentOf !== null });
  const environment = shell.data?.spec.environment?.variables ?? null;
  const shellReady = draft.environmentOf === null || shell.data !== undefined;

  const built = useMemo(() => specOf(settled, environment, new Date(), { lenient: true }), [settled, environment]);
  const previewed = 'spec' in built && shellReady ? built.spec : null;
  const preview = useQuery({ ...previewQuery(previewed), placeholderData: (before) => (previewed ? before : undefined) });

  const sentence = useCallback(
    ({ fault, what }: FieldFault) => {
      const words = {
        command_missing: t('submit.fault_command_missing'),
        command_quote: t('submit.fault_command_quote'),
        command_double_quote: t('submit.fault_command_double_quote'),
        command_backslash: t('submit.fault_command_backslash'),
        command_nul: t('submit.fault_command_nul'),
        folder_missing: t('submit.fault_folder_missing'),
        begin: t('submit.fault_begin'),
        variable_name: t('submit.fault_variable_name', { name: what ?? '' }),
        variable_twice: t('submit.fault_variable_twice', { name: what ?? '' }),
        variable_masked: t('submit.fault_variable_masked', { name: what ?? '' }),
      };
      return words[fault];
    },
    [t],
  );

  const wrongs = useMemo(() => {
    const said = new Map<Field | null, string>();
    if ('faults' in built) {
      for (const fault of built.faults) if (tried || !patient.has(fault.fault)) if (!said.has(fault.field)) said.set(fault.field, sentence(fault));
    } else if (preview.error instanceof ApiProblem && preview.error.problem) {
      for (const [field, words] of refusalByField(preview.error.problem)) said.set(field, words);
    }
    if (tried) for (const fault of variableFaults(settled)) said.set(fault.field, sentence(fault));
    // The refusal of a submit stands until something is changed.
    if (refused?.draft === draft) for (const [field, words] of refused.said) said.set(field, words);
    return said;
  }, [built, settled, preview.error, tried, sentence, refused, draft]);

  const changes = useMemo(() => (base ? differences(draft, base) : new Set<Field>()), [draft, base]);

  // Where the eye should go once the field is there: those under "More" appear first.
  const [goal, setGoal] = useState<Field | null>(null);
  useEffect(() => {
    if (goal === null) return;
    document.getElementById(idOf(goal))?.focus();
    setGoal(null);
  }, [goal, more]);
  const focus = useCallback((said: Iterable<Field | null>) => {
    const all = new Set(said);
    const first = fields.find((field) => all.has(field));
    if (!first) return;
    if (!mainFields.includes(first)) setMore(true);
    setGoal(first);
  }, []);

  const form: Form = {
    draft,
    set: useCallback((change: Partial<Draft>) => {
      touched.current = true;
      setDraft((before) => ({ ...before, ...change }));
    }, []),
    wrong: (field) => wrongs.get(field),
    changed: (field) => changes.has(field),
    reset: (field) => base && setDraft((before) => withFieldOf(before, base, field)),
    more,
    setMore,
  };
  return {
    form,
    /** Whether a field is marked as wrong. */
    marked: [...wrongs.keys()].some((field) => field !== null),
    /** What is wrong with none of the fields in particular. */
    wrongAtAll: wrongs.get(null),
    preview,
    /** The task of the draft as it is now; faults are shown, and the first gets the focus. */
    take: () => {
      setTried(true);
      const now = specOf(draft, environment, new Date());
      if ('spec' in now) return shellReady ? now.spec : null;
      focus(now.faults.map((fault) => fault.field));
      return null;
    },
    refuse: (problem: Map<Field | null, string>) => {
      setRefused({ draft, said: problem });
      focus(problem.keys());
    },
    spec: previewed,
    stale: settled !== draft || preview.isPlaceholderData,
    leftOut: Object.entries(environment ?? {}).flatMap(([name, value]) => (value === '***' ? [name] : [])),
    shellSize: Object.keys(environment ?? {}).length,
  };
}

/** Fields under "More" as they are when nobody used them. */
const emptyMore: Partial<Draft> = { ranks: false, share: 'whole', gpuMemory: '', variables: [], priority: 'normal', after: [], begin: '', time: '', retry: '', tags: '', hold: false, kept: {} };
