// All tasks: found by state, tag and name, chosen one by one or all at once, and acted on together.
import { Button, Loader, Text } from '@mantine/core';
import { useCallback, useEffect, useMemo, useState, type KeyboardEvent } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { useRunning } from '@/features/tasks';
import { detailOf, type Task } from '@/lib/api';
import { useTopic } from '@/lib/useLive';
import { useWords } from '@/lib/words';
import { Acts } from './acts/Acts';
import { BulkBar } from './BulkBar';
import { FilterBar } from './FilterBar';
import { hasState, named, readFilters, withLive, writeFilters, type Filters } from './filters';
import { kPhone, RowGrid } from './grid/RowGrid';
import { SelectionContext, useSelection } from './selection';
import { TaskCells, TaskHead } from './TaskCells';
import { useTaskPages } from './useTaskPages';
import classes from './TasksPage.module.css';

export function TasksPage() {
  const { t } = useWords();
  const [, go] = useLocation();
  const [query, setQuery] = useSearchParams();
  const filters = useMemo(() => readFilters(query), [query]);
  const change = useCallback((part: Partial<Filters>) => setQuery((now) => writeFilters(now, part), { replace: true }), [setQuery]);
  const { rows: listed, complete, loaded, error, refetch, again, more, see } = useTaskPages({ state: filters.state, tag: filters.tag });
  const running = useRunning().data?.items;
  useTopic('queue', again, again);
  const onEvents = useCallback(
    (value: unknown) => {
      // Marks of progress are many and change no list.
      const { items } = value as { items: { kind: string }[] };
      if (items.some(({ kind }) => kind.startsWith('task.') || kind === 'attempt.started')) again();
    },
    [again],
  );
  useTopic('events', onEvents, again);

  const current = useMemo(() => withLive(listed, running).filter((task) => hasState(task, filters.state)), [listed, running, filters.state]);
  const rows = useMemo(() => named(current, filters.name), [current, filters.name]);
  // What is sifted here is not read to its end by itself: older ones are looked through on demand.
  const sifted = filters.name !== '';
  const selection = useSelection(rows);
  const most = useRoom();

  const onKey = useCallback(
    (event: KeyboardEvent, task: Task) => {
      // A checkbox or a button under the focus answers to the space bar itself.
      if (event.key === ' ' && (event.target as HTMLElement).dataset.row) {
        selection.toggle(task.id, event.shiftKey);
        return true;
      }
      if (event.key === 'a' && (event.ctrlKey || event.metaKey)) {
        selection.all();
        return true;
      }
      return false;
    },
    [selection],
  );

  return (
    <div className={classes.page}>
      <div className={classes.top}>
        <h1 className={classes.title}>{t('tasks.title')}</h1>
        <Button component={Link} href="/new" size="xs" ml="auto">
          {t('overview.new_task')}
        </Button>
      </div>
      <FilterBar filters={filters} tags={useMemo(() => tagsOf(listed), [listed])} onChange={change} />
      <Acts onDone={selection.clear}>
        <SelectionContext value={selection.value}>
          <BulkBar rows={rows} selection={selection} loaded={current.length} complete={complete} searched={filters.name !== ''} />
          <div className={classes.surface} aria-busy={!loaded}>
            {rows.length > 0 ? (
              <RowGrid
                label={t('tasks.list')}
                rows={rows}
                Cells={TaskCells}
                head={<TaskHead />}
                className={classes.row}
                height={44}
                narrowHeight={90}
                most={most}
                onOpen={(task) => go(`/tasks/${task.id}`)}
                onKey={onKey}
                onSee={sifted ? undefined : see}
                selected={selection.ids}
                foot={complete ? undefined : sifted ? <Older onMore={() => void more()} /> : t('overview.queue_more')}
              />
            ) : (
              <div className={classes.none}>
                {error && !loaded ? (
                  <>
                    <Text size="sm" role="alert">
                      {detailOf(error, t('app.unreachable'))}
                    </Text>
                    <Button size="xs" variant="default" onClick={() => void refetch()}>
                      {t('app.retry')}
                    </Button>
                  </>
                ) : !loaded ? (
                  <Loader size="sm" aria-label={t('app.loading')} />
                ) : filters.state === 'all' && !filters.tag && !filters.name ? (
                  <>
                    <Text size="sm">{t('tasks.none')}</Text>
                    <Button component={Link} href="/new" size="xs" variant="default">
                      {t('overview.new_task')}
                    </Button>
                  </>
                ) : (
                  <>
                    <Text size="sm">{t('tasks.none_found')}</Text>
                    {sifted && !complete && <Older onMore={() => void more()} />}
                    <Button size="xs" variant="default" onClick={() => change({ state: 'all', tag: '', name: '' })}>
                      {t('tasks.clear_filters')}
                    </Button>
                  </>
                )}
              </div>
            )}
          </div>
          <Text size="xs" c="dimmed" className={classes.keys}>
            {t('tasks.keys')}
          </Text>
        </SelectionContext>
      </Acts>
    </div>
  );
}

function Older(props: { onMore: () => void }) {
  const { t } = useWords();
  return (
    <Button size="compact-xs" variant="subtle" onClick={props.onMore}>
      {t('tasks.load_more')}
    </Button>
  );
}

const tagsOf = (rows: readonly Task[]) => [...new Set(rows.flatMap((task) => task.tags))].sort().slice(0, 100);

/** Height for the rows: what a window has left below the bars above them. */
function useRoom() {
  // The filters take three lines on a phone, three on a small desk, one on a large.
  const above = () => (window.matchMedia(kPhone).matches ? 360 : window.matchMedia('(max-width: 68em)').matches ? 335 : 270);
  const room = () => Math.max(320, window.innerHeight - above());
  const [most, setMost] = useState(room);
  useEffect(() => {
    const measure = () => setMost(room());
    window.addEventListener('resize', measure);
    return () => window.removeEventListener('resize', measure);
  }, []);
  return most;
}
