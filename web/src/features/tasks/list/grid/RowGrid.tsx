// Rows of one height under each other, any number of them, of which only those in view exist. One row at a time can be reached
// with Tab; arrows go from row to row, Enter opens, and the focus stays with its row when rows come, go or change places.
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useCallback, useEffect, useLayoutEffect, useRef, useState, type ComponentType, type CSSProperties, type KeyboardEvent, type ReactNode, type RefObject } from 'react';
import classes from './RowGrid.module.css';

export interface CellsProps<T> {
  row: T;
  index: number;
  /** Of what can be pressed in the row: only the active row's is reached with Tab. */
  tabIndex: 0 | -1;
}
interface Props<T extends { id: number }> {
  label: string;
  rows: readonly T[];
  /** Cells with role="gridcell"; memoise the component. */
  Cells: ComponentType<CellsProps<T>>;
  /** Cells with role="columnheader". */
  head: ReactNode;
  /** Lays out head and rows: a grid template of no more than kLeast, and one for [data-narrow]. */
  className?: string;
  /** Of a row, in px: with columns, and folded where those find no room. */
  height: number;
  narrowHeight: number;
  /** Taller than this many px, rows scroll inside. */
  most: number;
  /** Rows of the whole list, where more than these are known of. */
  total?: number;
  onOpen: (row: T) => void;
  /** Answers true when the key was meant for it. */
  onKey?: (event: KeyboardEvent, row: T, index: number) => boolean;
  onSee?: (view: { first: number; last: number }) => void;
  /** A row that must exist though it is out of view. */
  kept?: number | null;
  selected?: ReadonlySet<number>;
  /** Drawn among the rows, in their coordinates. */
  overlay?: ReactNode;
  /** Under the last row: that more is on its way. */
  foot?: ReactNode;
  muted?: (row: T) => boolean;
}

const kHead = 30; // px; .head
const kLeast = 48; // rem that columns need, a scroll bar among them
/** A window as narrow as a phone's; the style sheets say it in the same words. */
export const kPhone = '(max-width: 48em)';
/** Enter and Escape that end a composition of characters are not meant for us. */
export const isComposing = (event: KeyboardEvent) => event.nativeEvent.isComposing || event.keyCode === 229;

export function RowGrid<T extends { id: number }>(props: Props<T>) {
  const { rows, Cells, onSee, onOpen, onKey } = props;
  const grid = useRef<HTMLDivElement>(null);
  const narrow = useNarrow(grid);
  const height = narrow ? props.narrowHeight : props.height;
  const top = narrow ? 0 : kHead;
  const scroller = useRef<HTMLDivElement>(null);
  const [activeId, setActiveId] = useState<number | null>(null);
  const activeIndex = Math.max(0, rows.findIndex((row) => row.id === activeId));
  const keptIndex = props.kept == null ? -1 : rows.findIndex((row) => row.id === props.kept);

  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: 6,
    paddingStart: top,
    scrollPaddingStart: top,
    rangeExtractor: (range) => {
      const seen = new Set<number>();
      const end = Math.min(range.count - 1, range.endIndex + range.overscan);
      for (let i = Math.max(0, range.startIndex - range.overscan); i <= end; i++) seen.add(i);
      for (const index of [activeIndex, keptIndex]) if (index >= 0 && index < range.count) seen.add(index);
      return [...seen].sort((a, b) => a - b);
    },
  });
  useLayoutEffect(() => virtual.measure(), [virtual, height, top]);

  const first = virtual.range?.startIndex ?? 0;
  const last = virtual.range?.endIndex ?? 0;
  useEffect(() => onSee?.({ first, last }), [onSee, first, last, rows.length]);

  // The focus: on which row, and whether the browser lost it because that row was moved or is gone.
  const focused = useRef<{ id: number; index: number } | null>(null);
  const wanted = useRef<number | null>(null);
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const rowOf = (id: number) => box.querySelector<HTMLElement>(`[data-row="${id}"]`);
    if (wanted.current !== null) {
      const row = rowOf(wanted.current);
      if (row) {
        wanted.current = null;
        row.focus({ preventScroll: true });
      }
      return;
    }
    if (!focused.current || document.activeElement !== document.body) return;
    const { id, index } = focused.current;
    const there = rows.some((row) => row.id === id) ? id : rows[Math.min(index, rows.length - 1)]?.id;
    if (there === undefined) return;
    setActiveId(there);
    rowOf(there)?.focus({ preventScroll: true });
  });

  const goTo = useCallback(
    (index: number) => {
      const row = rows[Math.min(Math.max(index, 0), rows.length - 1)];
      if (!row) return;
      wanted.current = row.id;
      setActiveId(row.id);
      virtual.scrollToIndex(rows.indexOf(row), { align: 'auto' });
    },
    [rows, virtual],
  );

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    if (isComposing(event) || event.defaultPrevented) return;
    // Keys pressed in a menu bubble here through React, though the menu lies elsewhere.
    if (!(event.target instanceof HTMLElement) || !event.currentTarget.contains(event.target)) return;
    const element = event.target.closest<HTMLElement>('[data-row]');
    const index = rows.findIndex((row) => row.id === Number(element?.dataset.row));
    const row = rows[index];
    if (!row) return;
    if (onKey?.(event, row, index)) return event.preventDefault();
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? height) / height) - 1);
    const goes: Record<string, number> = { ArrowDown: index + 1, ArrowUp: index - 1, PageDown: index + page, PageUp: index - page, Home: 0, End: rows.length - 1 };
    const to = goes[event.key];
    if (to !== undefined) {
      event.preventDefault();
      goTo(to);
    } else if (event.key === 'Enter' && event.target === element) {
      event.preventDefault();
      onOpen(row);
    }
  };

  const whole = top + rows.length * height;
  return (
    <div ref={grid} className={classes.grid} data-narrow={narrow || undefined} role="grid" aria-label={props.label} aria-rowcount={(props.total ?? rows.length) + 1} aria-multiselectable={props.selected ? true : undefined} onKeyDown={onKeyDown}>
      <div
        ref={scroller}
        className={classes.scroller}
        role="presentation"
        style={{ height: Math.min(whole, props.most) }}
        onFocus={(event) => {
          const id = Number(event.target.closest<HTMLElement>('[data-row]')?.dataset.row);
          if (!id) return;
          focused.current = { id, index: rows.findIndex((row) => row.id === id) };
          setActiveId(id);
        }}
        onBlur={(event) => {
          // Removed elements blur towards nothing; only a focus that went somewhere is gone for good.
          if (event.relatedTarget || event.target.isConnected) focused.current = null;
        }}
      >
        {/* Within what scrolls, so that columns stand under their names whether or not a scroll bar takes room. */}
        <div className={classes.headBox} role="rowgroup">
          <div className={`${classes.head} ${props.className ?? ''}`} role="row" aria-rowindex={1}>
            {props.head}
          </div>
        </div>
        <div className={classes.rows} role="rowgroup" data-rows style={{ height: rows.length * height }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            return (
              row && (
                <Row
                  key={row.id}
                  row={row}
                  index={item.index}
                  top={item.index * height}
                  height={height}
                  active={item.index === activeIndex}
                  selected={props.selected ? props.selected.has(row.id) : undefined}
                  muted={props.muted?.(row) ?? false}
                  className={props.className ?? ''}
                  Cells={Cells as ComponentType<CellsProps<{ id: number }>>}
                />
              )
            );
          })}
          {props.overlay}
        </div>
      </div>
      {props.foot && <div className={classes.foot}>{props.foot}</div>}
    </div>
  );
}

/** Whether columns find no room in it: rows are folded then, here and in the style sheets. */
function useNarrow(grid: RefObject<HTMLElement | null>): boolean {
  const [narrow, setNarrow] = useState(false);
  useLayoutEffect(() => {
    const element = grid.current;
    if (!element) return;
    const measure = () => {
      const width = element.offsetWidth;
      // Without a width it is not shown.
      if (width > 0) setNarrow(width < kLeast * Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
    };
    measure();
    const sizes = new ResizeObserver(measure);
    sizes.observe(element);
    return () => sizes.disconnect();
  }, [grid]);
  return narrow;
}

interface RowProps {
  row: { id: number };
  index: number;
  top: number;
  height: number;
  active: boolean;
  selected: boolean | undefined;
  muted: boolean;
  className: string;
  Cells: ComponentType<CellsProps<{ id: number }>>;
}
const Row = memo(function Row({ row, index, top, height, active, selected, muted, className, Cells }: RowProps) {
  const style: CSSProperties = { height, transform: `translateY(${top}px)` };
  return (
    <div className={`${classes.row} ${className}`} role="row" aria-rowindex={index + 2} aria-selected={selected} data-row={row.id} data-muted={muted || undefined} tabIndex={active ? 0 : -1} style={style}>
      <Cells row={row} index={index} tabIndex={active ? 0 : -1} />
    </div>
  );
});
