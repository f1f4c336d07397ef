// The draft of the page with everything that fields need to know about themselves.
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { taskQuery } from '@/features/tasks';
import { ApiProblem } from '@/lib/api';
import { useWords } from '@/lib/words';
import { previewQuery } from './api';
import { keptWords } from './clone';
import { differences, fields, forgetDraft, keepDraft, mainFields, noteCopy, withFieldOf, type Draft, type Field } from './draft';
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

interface Begin {
  /** What stands in the fields at first. */
  initial: Draft;
  /** What would stand there had nobody written anything. */
  fresh: Draft;
  /** The task it is a copy of. */
  base: Draft | null;
}

export function useForm({ initial, fresh, base }: Begin) {
  const { t } = useWords();
  const [draft, setDraft] = useState(initial);
  const [more, setMore] = useState(() => differences(initial, { ...initial, ...emptyMore }).size > 0);
  const [tried, setTried] = useState(false);
  const [refused, setRefused] = useState<{ draft: Draft; said: Map<Field | null, string> } | null>(null);

  const [settled] = useDebouncedValue(draft, kPause);
  // Kept when typing rests, and at once when the page is left.
  const touched = useRef(false);
  const written = useRef(draft);
  written.current = draft;
  const touch = useCallback(() => {
    if (!touched.current && base) noteCopy(base);
    touched.current = true;
  }, [base]);
  const keep = useCallback(() => {
    if (!touched.current) return;
    if (differences(written.current, fresh).size > 0) keepDraft(written.current);
    else forgetDraft();
  }, [fresh]);
  useEffect(keep, [settled, keep]);
  useEffect(() => {
    window.addEventListener('pagehide', keep);
    return () => {
      window.removeEventListener('pagehide', keep);
      keep();
    };
  }, [keep]);

  const shell = useQuery({ ...taskQuery(draft.environmentOf ?? 0), enabled: draft.environmentOf !== null });
  const environment = shell.data?.spec.environment?.variables ?? null;
  const shellReady = draft.environmentOf === null || shell.data !== undefined;

  // What the page finds by itself does not keep the yard from saying what else is wrong.
  const found = useMemo(() => faultsOf(settled, environment, true), [settled, environment]);
  const built = useMemo(() => specOf({ ...settled, ...(found.some(({ field }) => field === 'begin') && { begin: '' }), ...(found.some(({ field }) => field === 'variables') && { variables: [] }) }, environment, new Date(), { lenient: true }), [settled, environment, found]);
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
    for (const fault of found) if (tried || !patient.has(fault.fault)) if (!said.has(fault.field)) said.set(fault.field, sentence(fault));
    if (previewed && preview.error instanceof ApiProblem && preview.error.problem) {
      for (const [field, words] of refusalByField(preview.error.problem)) if (!said.has(field)) said.set(field, words);
    }
    if (tried) for (const fault of variableFaults(settled)) said.set(fault.field, sentence(fault));
    if (shell.error instanceof ApiProblem && shell.error.status === 404) said.set('environment', t('submit.fault_environment_gone', { id: draft.environmentOf ?? 0 }));
    // The refusal of a submit stands until something is changed.
    if (refused?.draft === draft) for (const [field, words] of refused.said) said.set(field, words);
    return shownAt(said, draft);
  }, [found, previewed, settled, preview.error, shell.error, tried, sentence, refused, draft, t]);

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
    set: useCallback(
      (change: Partial<Draft>) => {
        touch();
        setDraft((before) => ({ ...before, ...change }));
      },
      [touch],
    ),
    wrong: (field) => wrongs.get(field),
    changed: (field) => changes.has(field),
    reset: (field) => {
      if (!base) return;
      touch();
      setDraft((before) => withFieldOf(before, base, field));
    },
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
      if ('spec' in now && shellReady) return now.spec;
      focus([...wrongs.keys(), ...('faults' in now ? now.faults.map((fault) => fault.field) : [])]);
      return null;
    },
    refuse: (problem: Map<Field | null, string>) => {
      setRefused({ draft, said: problem });
      focus(shownAt(problem, draft).keys());
    },
    /** It has been queued: nothing of it is kept. */
    forget: () => {
      touched.current = false;
      forgetDraft();
    },
    spec: previewed,
    stale: settled !== draft || preview.isPlaceholderData,
    leftOut: Object.entries(environment ?? {}).flatMap(([name, value]) => (value === '***' ? [name] : [])),
    shellSize: Object.keys(environment ?? {}).length,
  };
}

function faultsOf(draft: Draft, environment: Parameters<typeof specOf>[1], lenient: boolean): FieldFault[] {
  const made = specOf(draft, environment, new Date(), { lenient });
  return 'faults' in made ? made.faults : [];
}

/** Faults where they can be seen: what a task keeps without a field stands with those of none, unless it is shown. */
function shownAt(said: Map<Field | null, string>, draft: Draft): Map<Field | null, string> {
  const kept = said.get('kept');
  if (kept === undefined || keptWords(draft.kept).length > 0) return said;
  const shown = new Map(said);
  shown.delete('kept');
  return shown.set(null, [said.get(null), kept].filter(Boolean).join('\n'));
}

/** Fields under "More" as they are when nobody used them. */
const emptyMore: Partial<Draft> = { ranks: false, share: 'whole', gpuMemory: '', variables: [], priority: 'normal', after: [], begin: '', time: '', retry: '', tags: '', hold: false, kept: {} };
