// State by a row of buttons, tag and name by text; what is typed goes into the address as it stands.
import { Autocomplete, CloseButton, TextInput } from '@mantine/core';
import { IconSearch, IconTag } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useWords } from '@/lib/words';
import { states, type Filters } from './filters';
import classes from './TasksPage.module.css';

export function FilterBar(props: { filters: Filters; tags: string[]; onChange: (part: Partial<Filters>) => void }) {
  const { t } = useWords();
  const { filters, onChange } = props;
  const words: Record<(typeof states)[number], string> = {
    all: t('tasks.all'),
    running: t('tasks.state_running'),
    waiting: t('tasks.state_waiting'),
    held: t('tasks.state_held'),
    ended: t('tasks.state_ended'),
    bad: t('tasks.state_bad'),
    succeeded: t('tasks.state_succeeded'),
    failed: t('tasks.state_failed'),
    cancelled: t('tasks.state_cancelled'),
    timeout: t('tasks.state_timeout'),
    preempted: t('tasks.state_preempted'),
    lost: t('tasks.state_lost'),
  };
  const [name, setName] = useTyped(filters.name, (text) => onChange({ name: text }), 120);
  const [tag, setTag] = useTyped(filters.tag, (text) => onChange({ tag: text.trim() }), 400);
  return (
    <div className={classes.filters}>
      <div className={classes.states} role="group" aria-label={t('tasks.filter_state')}>
        {states.map((state) => (
          <button key={state} type="button" className={classes.state} aria-pressed={filters.state === state} onClick={() => onChange({ state })}>
            {words[state]}
          </button>
        ))}
      </div>
      <div className={classes.texts}>
        <TextInput
          size="xs"
          type="search"
          className={classes.text}
          aria-label={t('tasks.filter_name')}
          placeholder={t('tasks.filter_name_hint')}
          leftSection={<IconSearch size={14} aria-hidden />}
          rightSection={name && <CloseButton size="sm" aria-label={t('tasks.clear_filters')} onClick={() => setName('')} />}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Autocomplete
          size="xs"
          className={classes.text}
          aria-label={t('tasks.filter_tag')}
          placeholder={t('tasks.filter_tag')}
          leftSection={<IconTag size={14} aria-hidden />}
          data={props.tags}
          limit={20}
          maxLength={200}
          clearable
          value={tag}
          onChange={setTag}
        />
      </div>
    </div>
  );
}

/** Text as it is typed, told on after a pause; it follows the address when that changes otherwise. */
function useTyped(value: string, tell: (text: string) => void, pause: number) {
  const [text, setText] = useState(value);
  const told = useRef(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const latest = useRef(tell);
  latest.current = tell;
  useEffect(() => {
    if (value === told.current) return;
    told.current = value;
    setText(value);
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (next: string) => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      told.current = next.trim();
      latest.current(next);
    }, pause);
  };
  return [text, type] as const;
}
