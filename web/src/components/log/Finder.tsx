// The bar over a log to search it or to go to a line.
import { ActionIcon } from '@mantine/core';
import { IconChevronDown, IconChevronUp, IconLetterCase, IconRegex, IconX } from '@tabler/icons-react';
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { detailOf } from '@/lib/api';
import { useWords } from '@/lib/words';
import classes from './LogView.module.css';
import type { LogSearch, SearchOptions } from './search';

const composing = (event: KeyboardEvent) => event.nativeEvent.isComposing || event.keyCode === 229;
const icon = { size: 15, stroke: 1.7 };

interface SearchBarProps {
  search: LogSearch;
  opened: number; // another number: focus anew
  onGo: (direction: 1 | -1) => void;
  onClose: () => void;
}

export function SearchBar({ search, opened, onGo, onClose }: SearchBarProps) {
  const { t } = useWords();
  const [q, setQ] = useState(search.q);
  const [options, setOptions] = useState<SearchOptions>(search.options);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, [opened]);
  const begin = (text: string, chosen: SearchOptions) => {
    search.set(text, chosen);
    if (text !== '') onGo(1);
  };
  const latest = useRef(begin);
  latest.current = begin;
  // A pause in typing begins the search; Enter does at once.
  useEffect(() => {
    if (q === search.q && options === search.options) return;
    const timer = setTimeout(() => latest.current(q, options), 250);
    return () => clearTimeout(timer);
  }, [q, options, search]);
  const onKey = (event: KeyboardEvent) => {
    if (composing(event)) return;
    if (event.key === 'Escape') onClose();
    else if (event.key === 'Enter') {
      if (q !== search.q || options !== search.options) begin(q, options);
      else onGo(event.shiftKey ? -1 : 1);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const toggle = (name: keyof SearchOptions) => setOptions((now) => ({ ...now, [name]: !now[name] }));
  return (
    <div className={classes.finder} role="search" onKeyDown={(event) => event.key === 'Escape' && onKey(event)}>
      <input
        ref={field}
        className={classes.field}
        value={q}
        maxLength={1000}
        spellCheck={false}
        autoComplete="off"
        placeholder={t('log.search_here')}
        aria-label={t('log.search_label')}
        aria-invalid={search.problem ? true : undefined}
        onChange={(event) => setQ(event.currentTarget.value)}
        onKeyDown={onKey}
      />
      <Toggle on={options.matchCase} label={t('log.search_case')} onClick={() => toggle('matchCase')}>
        <IconLetterCase {...icon} />
      </Toggle>
      <Toggle on={options.regex} label={t('log.search_regex')} onClick={() => toggle('regex')}>
        <IconRegex {...icon} />
      </Toggle>
      <span className={classes.count} role="status">
        <Count search={search} />
      </span>
      <Tool label={t('log.search_previous')} onClick={() => onGo(-1)}>
        <IconChevronUp {...icon} />
      </Tool>
      <Tool label={t('log.search_next')} onClick={() => onGo(1)}>
        <IconChevronDown {...icon} />
      </Tool>
      <Tool label={t('log.search_close')} onClick={onClose}>
        <IconX {...icon} />
      </Tool>
      {search.problem !== null && <p className={classes.finderProblem}>{detailOf(search.problem, t('log.search_failed'))}</p>}
    </div>
  );
}

function Count({ search }: { search: LogSearch }) {
  const { t } = useWords();
  const n = search.found.length;
  if (search.q === '' || search.problem) return null;
  if (n === 0) return search.complete ? t('log.search_none') : search.counting ? t('log.search_busy') : null;
  const at = search.position;
  if (search.complete) return at ? t('log.search_at', { at, n }) : t('log.search_count', { n });
  return at ? t('log.search_at_more', { at, n }) : t('log.search_count_more', { n });
}

interface JumpBarProps {
  total: number;
  whole: boolean;
  opened: number;
  onJump: (line: number) => void; // from 0
  onClose: () => void;
}

export function JumpBar({ total, whole, opened, onJump, onClose }: JumpBarProps) {
  const { t } = useWords();
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), [opened]);
  const onKey = (event: KeyboardEvent) => {
    if (composing(event)) return;
    if (event.key === 'Escape') onClose();
    else if (event.key === 'Enter') {
      const line = Number(text.replace(/[\s,，]/g, ''));
      if (Number.isSafeInteger(line) && line >= 1 && (line <= total || !whole)) onJump(line - 1);
      else setWrong(true);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className={classes.finder}>
      <input
        ref={field}
        className={classes.field}
        value={text}
        inputMode="numeric"
        autoComplete="off"
        placeholder={whole ? t('log.jump_here', { n: total }) : t('log.jump_counting')}
        aria-label={t('log.jump_label')}
        aria-invalid={wrong || undefined}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setWrong(false);
        }}
        onKeyDown={onKey}
      />
      <Tool label={t('log.search_close')} onClick={onClose}>
        <IconX {...icon} />
      </Tool>
      {wrong && (
        <p className={classes.finderProblem} role="alert">
          {t('log.jump_wrong', { n: total })}
        </p>
      )}
    </div>
  );
}

interface ToolProps {
  label: string;
  onClick: () => void;
  children: React.ReactNode;
}
export function Tool({ label, onClick, children }: ToolProps) {
  return (
    <ActionIcon size="md" variant="subtle" color="gray" aria-label={label} title={label} onClick={onClick} className={classes.tool}>
      {children}
    </ActionIcon>
  );
}
export function Toggle({ on, label, onClick, children }: ToolProps & { on: boolean }) {
  return (
    <ActionIcon
      size="md"
      variant={on ? 'light' : 'subtle'}
      color={on ? undefined : 'gray'}
      aria-pressed={on}
      aria-label={label}
      title={label}
      onClick={onClick}
      className={classes.tool}
    >
      {children}
    </ActionIcon>
  );
}
