// What waits, in the order in which it starts, each with the reason why; the order is changed by dragging, keys or a menu.
import { Button, Portal, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { memo, useCallback, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { useLocation } from 'wouter';
import { Section } from '@/components/Section';
import { devicesQuery } from '@/features/devices';
import { RowGrid, useActs, useTaskPages } from '@/features/tasks/list';
import { detailOf, type Schemas, type Task } from '@/lib/api';
import { useTopic } from '@/lib/useLive';
import { useWords } from '@/lib/words';
import { landing, placesOf } from './order';
import { PriorityDialog } from './PriorityDialog';
import { QueueCells, QueueContext, QueueHead, type QueueDeeds } from './QueueCells';
import { useDrag } from './useDrag';
import { useMover } from './useMover';
import { usePause } from './usePause';
import type { Given } from './wants';
import classes from './Queue.module.css';

const kRow = 52;
const kNarrowRow = 86;
const givenOf = ({ items }: Schemas['DeviceList']): Given => (items.some(({ kind }) => kind !== 'cpu') ? 'gpus' : 'slots');

/** `total`: how many wait, held ones among them. */
export const Queue = memo(function Queue(props: { total: number }) {
  const { t } = useWords();
  const [, go] = useLocation();
  const { refuse } = useActs();
  const list = useTaskPages({ state: 'waiting' });
  useTopic('queue', list.again, list.again);
  const { data: given = 'slots' } = useQuery({ ...devicesQuery, select: givenOf });
  const mover = useMover(list, refuse);
  const [menu, setMenu] = useState<number | null>(null);
  const [priorityOf, setPriorityOf] = useState<Task | null>(null);
  const [said, setSaid] = useState('');
  const pause = usePause((text) => text !== null && refuse(text));

  // Nothing moves under a pointer that holds a row, nor under an open menu.
  const shownRef = useRef<readonly Task[]>(list.rows);
  const holding = useRef(false);
  if (!holding.current && menu === null) shownRef.current = list.rows;
  const shown = shownRef.current;

  const moveTo = useCallback(
    (id: number, to: number) => {
      const rows = shownRef.current;
      const row = rows.find((each) => each.id === id);
      if (!row || !mover.move(rows, id, to)) return;
      setSaid(t('overview.moved', { name: row.name, place: to + 1, count: rows.length }));
    },
    [mover.move, t],
  );
  const { drag, begin } = useDrag(shown.length, moveTo);
  holding.current = drag !== null;

  const places = useMemo(() => placesOf(shown), [shown]);
  const deeds = useMemo<QueueDeeds>(
    () => ({ places, last: shown.length - 1, given, moving: mover.moving, menu, openMenu: setMenu, beginDrag: begin, moveTo, setPriority: setPriorityOf }),
    [places, shown.length, given, mover.moving, menu, begin, moveTo],
  );
  const onKey = useCallback(
    (event: KeyboardEvent, row: Task, index: number) => {
      if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return false;
      moveTo(row.id, index + (event.key === 'ArrowUp' ? -1 : 1));
      return true;
    },
    [moveTo],
  );
  const lands = drag && landing(drag.from, drag.gap) !== drag.from;
  const dragged = drag && shown.find((row) => row.id === drag.id);

  return (
    <Section
      title={t('overview.queue')}
      count={props.total}
      actions={
        <>
          <span className={classes.keys}>{shown.length > 1 && t('overview.queue_keys')}</span>
          {pause.paused && (
            <span className={classes.paused} role="status">
              <span aria-hidden>‖ </span>
              {t('overview.queue_paused')}
            </span>
          )}
          <Button size="compact-sm" miw={84} variant={pause.paused ? 'filled' : 'default'} loading={pause.doing} onClick={() => pause.set(!pause.paused)} aria-label={pause.paused ? t('overview.resume_label') : t('overview.pause_label')}>
            {pause.paused ? t('overview.resume') : t('overview.pause')}
          </Button>
        </>
      }
    >
      {shown.length > 0 ? (
        <QueueContext value={deeds}>
          <RowGrid
            label={t('overview.queue')}
            rows={shown}
            total={props.total}
            Cells={QueueCells}
            head={<QueueHead />}
            className={classes.row}
            height={kRow}
            narrowHeight={kNarrowRow}
            most={12.5 * kRow}
            onOpen={(task) => go(`/tasks/${task.id}`)}
            onKey={onKey}
            onSee={list.see}
            kept={drag?.id ?? menu}
            muted={(row) => row.id === drag?.id}
            overlay={lands && <DropLine part={drag.gap / shown.length} />}
            foot={list.complete ? undefined : t('overview.queue_more')}
          />
        </QueueContext>
      ) : (
        // Rows that are on their way have their room.
        <p className={classes.nothing} style={list.loaded ? undefined : { minHeight: Math.min(props.total, 12.5) * kRow + 31 }}>
          {list.error && !list.loaded ? detailOf(list.error, t('app.unreachable')) : list.loaded ? t('overview.queue_empty') : t('app.loading')}
        </p>
      )}
      {drag && dragged && (
        <Portal>
          <div className={classes.ghost} style={{ transform: `translate(${drag.x + 14}px, ${drag.y - 14}px)` }} aria-hidden>
            <Text size="sm" truncate>
              {dragged.name}
            </Text>
          </div>
        </Portal>
      )}
      <div className={classes.said} aria-live="polite">
        {said}
      </div>
      <PriorityDialog task={priorityOf} onClose={() => setPriorityOf(null)} />
    </Section>
  );
});

function DropLine(props: { part: number }) {
  return <div className={classes.drop} role="presentation" style={{ top: `${props.part * 100}%` }} />;
}
