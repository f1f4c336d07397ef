// How many there are, how many are chosen, and what can be done to those; always there, so that nothing jumps.
import { Button, Checkbox } from '@mantine/core';
import type { Task } from '@/lib/api';
import { useWords } from '@/lib/words';
import { useActs } from './acts/Acts';
import { verbWord } from './acts/TaskMenu';
import { applies, isFinal, verbs } from './acts/verbs';
import type { Selection } from './selection';
import classes from './TasksPage.module.css';

export function BulkBar(props: { rows: readonly Task[]; selection: Selection<Task>; loaded: number; complete: boolean; searched: boolean }) {
  const { t } = useWords();
  const { ask } = useActs();
  const { rows, selection, loaded } = props;
  const { tasks } = selection;
  const count = tasks.length;
  const words =
    count > 0
      ? t('tasks.selected', { count })
      : props.searched
        ? t('tasks.shown_found', { found: rows.length, count: loaded })
        : props.complete
          ? t('tasks.shown', { count: rows.length })
          : t('tasks.shown_more', { count: rows.length });
  return (
    <div className={classes.bulk}>
      <Checkbox
        size="xs"
        aria-label={t('tasks.select_all')}
        title={t('tasks.select_all')}
        disabled={rows.length === 0}
        checked={count > 0 && count === rows.length}
        indeterminate={count > 0 && count < rows.length}
        onChange={(event) => (event.currentTarget.checked ? selection.all() : selection.clear())}
      />
      <span className={classes.count} role="status">
        {words}
      </span>
      <div className={classes.verbs}>
        {verbs.map((verb) => {
          const able = tasks.filter((task) => applies(verb, task)).length;
          return (
            <Button key={verb} size="compact-sm" variant="default" disabled={able === 0} c={able > 0 && isFinal(verb) ? 'var(--page-bad)' : undefined} onClick={() => ask(verb, tasks)}>
              {verbWord(verb, t)}
              {able > 0 && able < count && <span className={classes.able}> {able.toLocaleString()}</span>}
            </Button>
          );
        })}
        <Button size="compact-sm" variant="subtle" color="gray" disabled={count === 0} onClick={selection.clear}>
          {t('tasks.unselect')}
        </Button>
      </div>
    </div>
  );
}
