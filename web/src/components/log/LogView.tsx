// LogView shows a log of any length: the lines in sight come from the yard by number, as do matches of a search. It opens at the
// end and follows it until someone scrolls up.
import { useComputedColorScheme } from '@mantine/core';
import { IconChevronsDown, IconCopy, IconDownload, IconHash, IconSearch, IconTextWrap } from '@tabler/icons-react';
import { useCallback, useEffect, useId, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent } from 'react';
import { formatBytes } from '@/lib/format';
import { useWords } from '@/lib/words';
import type { Line } from './cache';
import { copyText } from '@/lib/copyText';
import { JumpBar, SearchBar, Toggle, Tool } from './Finder';
import { LogRow } from './LogRow';
import classes from './LogView.module.css';
import type { FetchLines, LogModel } from './model';
import { firstOf, holds, lastOf, textOf, type Selected } from './range';
import { LogSearch, markPattern, type SearchLines } from './search';
import { rowHeight, useLog } from './useLog';
import { columnsOf } from './visible';

export interface LogViewProps {
  title: string;
  logKey: string; // names the log: task, attempt and rank
  fetchLines: FetchLines;
  search?: SearchLines;
  size?: number; // bytes, as the live topic says: another one means new lines
  ended?: boolean;
  initialLine?: number; // from 0; the end if absent
  onDownload?: () => void;
  height?: number | string; // of the whole; 100% if absent
}

const kept = 'trainyard.log.wrap';
const icon = { size: 16, stroke: 1.6 };
const short = 30; // lines of a log that has ended which need no room for more
const leastShown = 4;
const headHeight = 37; // as in LogView.module.css
const fast = 3; // lines a second that a screen reader should not try to read

export function LogView(props: LogViewProps) {
  const { title, fetchLines } = props;
  const { t } = useWords();
  const scheme = useComputedColorScheme('light');
  const viewport = useRef<HTMLDivElement>(null);
  const [wrap, setWrap] = useState(() => localStorage.getItem(kept) !== 'no');
  const { model, onScroll, grid } = useLog(viewport, {
    logKey: props.logKey,
    fetchLines,
    initialLine: props.initialLine,
    size: props.size,
    ended: props.ended,
    wrap,
  });

  const [finder, setFinder] = useState<'search' | 'jump' | null>(null);
  const [opened, setOpened] = useState(0);
  const [cursor, setCursor] = useState<number | null>(null); // the line that was jumped to
  const [selected, setSelected] = useState<Selected | null>(null);
  const [status, setStatus] = useState('');
  useEffect(() => {
    setSelected(null);
    setCursor(null);
  }, [props.logKey]);

  const search = useSearch(props.search, props.logKey, model.changed.bind(model));
  useEffect(() => {
    if (finder !== 'search') return;
    const timer = setTimeout(() => void search.grown(), 1000);
    return () => clearTimeout(timer);
  }, [search, finder, model.total]);
  const pattern = useMemo(() => markPattern(search.q, search.options), [search.q, search.options]);

  const open = (which: 'search' | 'jump') => {
    if (which === 'search' && !props.search) return;
    setFinder(which);
    setOpened((count) => count + 1);
  };
  const close = () => {
    setFinder(null);
    search.set('', search.options);
    viewport.current?.focus({ preventScroll: true });
  };
  const go = async (direction: 1 | -1) => {
    const here = search.current ?? (direction > 0 ? model.scroller.line - 1 : model.scroller.line);
    const line = direction > 0 ? await search.next(here) : await search.previous(here, model.total);
    if (line === null) return;
    model.stopFollowing();
    if (!model.shows(line)) model.toLine(line, true);
  };
  const jump = (line: number) => {
    model.toLine(line, true);
    setCursor(line);
    setFinder(null);
    viewport.current?.focus({ preventScroll: true });
  };
  const flipWrap = () => {
    localStorage.setItem(kept, wrap ? 'no' : 'yes');
    setWrap(!wrap);
  };
  const flipFollow = () => (model.follow.following ? model.stopFollowing() : model.toEnd());

  const copy = async () => {
    const seen = model.rows(0);
    if (!selected && seen.length === 0) return;
    const [from, to] = selected ? [firstOf(selected), lastOf(selected)] : [seen[0]!.line, seen[seen.length - 1]!.line];
    try {
      const { text, lines, all } = await textOf(itemsOf, from, to);
      if (!(await copyText(text))) setStatus(t('log.copy_failed'));
      else setStatus(all ? t('log.copied', { n: lines }) : t('log.copied_some', { n: lines }));
    } catch {
      setStatus(t('log.copy_failed'));
    }
  };
  /** While lines have no numbers yet, those that are here are what can be copied. */
  const itemsOf = async (from: number, count: number): Promise<readonly Line[]> => {
    if (model.whole) return (await fetchLines(from, count)).items;
    return Array.from({ length: Math.min(count, model.total - from) }, (_, i) => model.cache.get(from + i) ?? { text: '', cut: false });
  };
  useEffect(() => {
    if (status === '') return;
    const timer = setTimeout(() => setStatus(''), 4000);
    return () => clearTimeout(timer);
  }, [status]);

  const onKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    const typing = event.target instanceof HTMLInputElement;
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'f' && props.search) open('search');
    else if (typing || event.altKey) return;
    else if (event.ctrlKey || event.metaKey) {
      // The browser copies what is selected as text; selected lines are ours.
      if (event.key.toLowerCase() !== 'c' || !selected || document.getSelection()?.isCollapsed === false) return;
      void copy();
    } else if (!plainKey(event)) return;
    event.preventDefault();
  };
  const plainKey = (event: KeyboardEvent): boolean => {
    const page = Math.max(rowHeight, model.scroller.viewport - 2 * rowHeight);
    const onViewport = event.target === viewport.current;
    if (event.shiftKey && onViewport && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) return select(event.key === 'ArrowDown' ? 1 : -1);
    if (onViewport && event.key === 'ArrowUp') model.moveBy(-rowHeight);
    else if (onViewport && event.key === 'ArrowDown') model.moveBy(rowHeight);
    else if (onViewport && (event.key === 'PageUp' || (event.key === ' ' && event.shiftKey))) model.moveBy(-page);
    else if (onViewport && (event.key === 'PageDown' || event.key === ' ')) model.moveBy(page);
    else if (event.key === 'Home') model.toStart();
    else if (event.key === 'End') model.toEnd();
    else if (event.key === 'f') flipFollow();
    else if (event.key === 'w') flipWrap();
    else if (event.key === '/' && props.search) open('search');
    else if (event.key === ':') open('jump');
    else if (event.key === 'n' && search.q) void go(1);
    else if (event.key === 'N' && search.q) void go(-1);
    else if (event.key === 'Escape' && (finder || selected)) {
      setSelected(null);
      if (finder) close();
    } else return false;
    return true;
  };
  const select = (step: 1 | -1): true => {
    // It begins in sight: at the line that was jumped to, else at the first that is whole.
    const first = model.scroller.line + (model.scroller.offset > 0 ? 1 : 0);
    const focus = selected ? selected.focus + step : cursor !== null && model.shows(cursor) ? cursor : first;
    const line = Math.max(0, Math.min(model.total - 1, focus));
    setSelected({ anchor: selected?.anchor ?? line, focus: line });
    model.stopFollowing();
    if (!model.shows(line)) {
      if (Math.abs(line - model.scroller.line) > 200) model.toLine(line, true);
      else model.moveBy(step * rowHeight);
    }
    return true;
  };

  /** Lines are selected by their numbers: a press begins, moving on or Shift with a press ends. */
  const onPointer = (event: PointerEvent) => {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-line]') : null;
    const onNumber = event.target instanceof HTMLElement && event.target.dataset.number !== undefined;
    if (event.type === 'pointerdown' && event.button === 0) {
      if (!onNumber || !row) return setSelected(null);
      const line = Number(row.dataset.line);
      setSelected(event.shiftKey && selected ? { ...selected, focus: line } : { anchor: line, focus: line });
      model.stopFollowing();
      dragging.current = true;
    } else if (event.type === 'pointermove' && dragging.current && row && event.buttons === 1) {
      const line = Number(row.dataset.line);
      setSelected((now) => (now && now.focus !== line ? { ...now, focus: line } : now));
    } else if (event.type !== 'pointermove') dragging.current = false;
  };
  const dragging = useRef(false);

  const rows = model.rows();
  // A log that had ended when it was opened is as high as its lines; one that grows, or has just ended, keeps its room.
  const atRest = useRef<{ logKey: string; ended: boolean } | null>(null);
  if (props.ended !== undefined && atRest.current?.logKey !== props.logKey) atRest.current = { logKey: props.logKey, ended: props.ended };
  const room = cssLength(props.height ?? '100%');
  const lines = model.whole && model.total <= short && atRest.current?.ended ? Math.max(leastShown, model.total) : null;
  const digits = Math.max(3, String(model.total).length);
  const columns = useRef(0);
  if (!wrap) for (const { item } of rows) columns.current = Math.max(columns.current, item ? columnsOf(item.text) : 0);
  const id = useId();
  const hiddenCount = model.newLines;
  const goOn = useCallback(() => {
    model.toEnd();
    viewport.current?.focus({ preventScroll: true });
  }, [model]);

  return (
    <section className={classes.log} style={{ height: room, maxHeight: lines === null ? undefined : heightOf(model, lines) }} aria-label={t('log.label', { title })} onKeyDown={onKey}>
      <header className={classes.head}>
        <bdi className={classes.title} title={title}>
          {title}
        </bdi>
        <span className={classes.extent}>
          {model.empty ? '' : model.whole ? t('log.lines', { n: model.total }) : t('log.counting')}
          {model.size > 0 && <span className={classes.size}>{formatBytes(model.size)}</span>}
        </span>
        <span className={classes.status} role="status">
          {model.problem !== null ? t('log.failed') : status}
        </span>
        <span className={classes.tools}>
          {props.search && (
            <Tool label={t('log.search')} onClick={() => open('search')}>
              <IconSearch {...icon} />
            </Tool>
          )}
          <Tool label={t('log.jump')} onClick={() => open('jump')}>
            <IconHash {...icon} />
          </Tool>
          <Toggle on={wrap} label={t('log.wrap')} onClick={flipWrap}>
            <IconTextWrap {...icon} />
          </Toggle>
          <Tool label={selected ? t('log.copy_selected', { n: lastOf(selected) - firstOf(selected) + 1 }) : t('log.copy_seen')} onClick={() => void copy()}>
            <IconCopy {...icon} />
          </Tool>
          {props.onDownload && (
            <Tool label={t('log.download')} onClick={props.onDownload}>
              <IconDownload {...icon} />
            </Tool>
          )}
          <Toggle on={model.follow.following} label={t('log.follow')} onClick={flipFollow}>
            <IconChevronsDown {...icon} />
          </Toggle>
        </span>
      </header>
      <div className={classes.body}>
        {finder === 'search' && <SearchBar search={search} opened={opened} onGo={(direction) => void go(direction)} onClose={close} />}
        {finder === 'jump' && <JumpBar total={model.total} whole={model.whole} opened={opened} onJump={jump} onClose={close} />}
        <div
          ref={viewport}
          className={classes.viewport}
          data-wrap={wrap || undefined}
          tabIndex={0}
          role="log"
          aria-label={t('log.label', { title })}
          aria-describedby={`${id}keys`}
          aria-live={model.follow.following && model.rate <= fast ? 'polite' : 'off'}
          onScroll={onScroll}
          onPointerDown={onPointer}
          onPointerMove={onPointer}
          onPointerUp={onPointer}
        >
          <div className={classes.spacer} style={{ height: model.scroller.spacer, minWidth: wrap ? undefined : Math.ceil(columns.current * grid.current.letter) + 90 }}>
            <div className={classes.rows} style={{ '--number-width': model.whole ? `${digits}ch` : '0ch' } as React.CSSProperties}>
              {rows.map(({ line, y, item }) => {
                const match = search.current === line ? 'current' : search.matches(line) ? 'one' : cursor === line ? 'current' : null;
                return (
                  <LogRow
                    key={line}
                    line={line}
                    y={y}
                    item={item}
                    numbered={model.whole}
                    wrap={wrap}
                    scheme={scheme}
                    match={match}
                    pattern={match ? pattern : null}
                    selected={holds(selected, line)}
                  />
                );
              })}
            </div>
          </div>
        </div>
        {model.empty && <p className={classes.nothing}>{model.problem !== null ? t('log.failed') : t('log.loading')}</p>}
        {!model.empty && model.total === 0 && <p className={classes.nothing}>{model.ended ? t('log.empty_ended') : t('log.empty')}</p>}
        {!model.follow.following && !model.scroller.atEnd && (
          <button type="button" className={classes.pill} onClick={goOn} onWheel={(event) => model.moveBy(event.deltaY)} data-new={hiddenCount > 0 || undefined}>
            ↓ {hiddenCount > 0 ? t('log.new_lines', { n: hiddenCount }) : t('log.to_end')}
          </button>
        )}
      </div>
      <p id={`${id}keys`} className={classes.unseen}>
        {t('log.keys')}
      </p>
    </section>
  );
}

const cssLength = (length: number | string) => (typeof length === 'number' ? `${length}px` : length);

/** Of the whole view around so many lines, wrapped ones as high as they are. */
function heightOf(model: LogModel, lines: number): number {
  let height = headHeight + 18; // a bar to scroll sideways has room
  for (let line = 0; line < lines; line++) height += line < model.total ? model.scroller.heightOf(line) : rowHeight;
  return height;
}

/** One search for as long as the log is the same. */
function useSearch(search: SearchLines | undefined, logKey: string, changed: () => void): LogSearch {
  const latest = useRef({ search, changed });
  latest.current = { search, changed };
  return useMemo(
    () =>
      new LogSearch(
        (...words) => latest.current.search?.(...words) ?? Promise.resolve({ items: [], next: null }),
        () => latest.current.changed(),
      ),
    // eslint-disable-next-line -- another log, another search
    [logKey],
  );
}
