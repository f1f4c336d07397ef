import { MantineProvider } from '@mantine/core';
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import english from '@gen/en.json';
import { contrast, logColors } from '@/lib/sgr';
import { WordsProvider } from '@/lib/words';
import type { Lines } from './cache';
import { LogView, type LogViewProps } from './LogView';
import { textOf } from './range';

let lines: string[] = [];
const fetchLines = vi.fn(async (from: number, count: number): Promise<Lines> => {
  const first = from < 0 ? Math.max(0, lines.length + from) : from;
  const items = lines.slice(first, first + count).map((text) => ({ text, cut: text.endsWith('!') }));
  return { attempt: 1, rank: null, first, total: lines.length, whole: true, ended: false, size: 1, items };
});
const search = vi.fn(async (q: string, _options: unknown, from: number, limit: number) => ({
  items: lines.map((text, line) => ({ line, text })).filter(({ line, text }) => line >= from && text.includes(q)).slice(0, limit),
  next: null,
}));

beforeEach(() => {
  fetchLines.mockClear();
  search.mockClear();
  vi.useFakeTimers();
  localStorage.setItem('trainyard.log.wrap', 'no');
  vi.stubGlobal('ResizeObserver', class {
    observe() {}
    disconnect() {}
    unobserve() {}
  });
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(190);
  vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(800);
  lines = Array.from({ length: 1000 }, (_, i) => `line ${i}`);
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const view = (props: Partial<LogViewProps> = {}) => (
  <MantineProvider>
    <WordsProvider first="en" catalogue={english}>
      <LogView title="qwen" logKey="12/1" fetchLines={fetchLines} search={search} {...props} />
    </WordsProvider>
  </MantineProvider>
);
const settle = (ms = 700) => act(() => vi.advanceTimersByTimeAsync(ms));
async function opened(props: Partial<LogViewProps> = {}) {
  const made = render(view(props));
  await settle();
  return made;
}
const log = () => screen.getByRole('log');
const row = (line: number) => document.querySelector<HTMLElement>(`[data-line="${line}"]`);
const texts = () => [...document.querySelectorAll('[data-line] bdi')].map((element) => element.textContent);
const key = (name: string, more = {}) => fireEvent.keyDown(log(), { key: name, ...more });

describe('a log in view', () => {
  it('is as high as its lines when it had ended with few of them, and keeps its room when it ends before one’s eyes', async () => {
    lines = ['one', 'two', 'three', 'four', 'five'];
    const high = () => document.querySelector('section')!.style.maxHeight;
    const { unmount } = await opened({ ended: true, size: 1 });
    expect(high()).toBe(`${37 + 18 + 5 * 19}px`);
    unmount();
    const { rerender } = await opened({ ended: false, size: 1 });
    expect(high()).toBe('');
    rerender(view({ ended: true, size: 1 }));
    await settle();
    expect(high()).toBe('');
  });

  it('shows its end, in few rows', async () => {
    await opened();
    expect(texts()).toContain('line 999');
    expect(texts().length).toBeLessThan(30);
    expect(screen.getByText('1,000 lines')).toBeTruthy();
  });

  it('tells how many lines came while one looks at others, and goes on following by the pill', async () => {
    const { rerender } = await opened({ size: 1 });
    key('PageUp');
    const before = texts();
    lines.push(...Array.from({ length: 312 }, (_, i) => `new ${i}`));
    rerender(view({ size: 2 }));
    await settle();
    expect(texts()).toEqual(before);
    fireEvent.click(screen.getByRole('button', { name: '↓ 312 new lines' }));
    await settle();
    expect(texts()).toContain('new 311');
  });

  it('goes to a line that is typed behind a colon, and says when there is none', async () => {
    await opened();
    key(':');
    const field = screen.getByRole('textbox', { name: 'Line number' });
    fireEvent.change(field, { target: { value: '2000' } });
    fireEvent.keyDown(field, { key: 'Enter' });
    expect(screen.getByRole('alert').textContent).toBe('Lines go from 1 to 1,000.');
    fireEvent.change(field, { target: { value: '124' } });
    fireEvent.keyDown(field, { key: 'Enter' });
    await settle();
    expect(row(123)!.dataset.match).toBe('current');
    expect(row(123)!.textContent).toBe('line 123');
  });

  it('opens its own search in place of the browser’s, marks what it finds, and goes on with n', async () => {
    await opened();
    const event = new KeyboardEvent('keydown', { key: 'f', ctrlKey: true, bubbles: true, cancelable: true });
    act(() => void log().dispatchEvent(event));
    expect(event.defaultPrevented).toBe(true);
    fireEvent.change(screen.getByRole('textbox', { name: 'Search the log' }), { target: { value: 'line 10' } });
    await settle();
    expect(row(10)!.dataset.match).toBe('current');
    expect(row(10)!.querySelector('mark')!.textContent).toBe('line 10');
    expect(screen.getByText('1 of 11')).toBeTruthy();
    key('n');
    await settle();
    expect(row(100)!.dataset.match).toBe('current');
    key('N');
    await settle();
    expect(row(10)!.dataset.match).toBe('current');
  });

  it('takes no Enter and no Escape that belongs to a half-typed word', async () => {
    await opened();
    key('/');
    const field = screen.getByRole('textbox', { name: 'Search the log' });
    fireEvent.change(field, { target: { value: 'ceshi' } });
    fireEvent.keyDown(field, { key: 'Enter', keyCode: 229 });
    fireEvent.keyDown(field, { key: 'Escape', isComposing: true });
    expect(search).not.toHaveBeenCalled();
    expect(screen.getByRole('textbox', { name: 'Search the log' })).toBeTruthy();
  });

  it('copies selected lines that are not in the page, without their colours', async () => {
    const writeText = vi.fn(async (_text: string) => {});
    vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText } });
    lines[501] = '\x1b[31mred\x1b[0m 501';
    await opened({ initialLine: 500 });
    fireEvent.pointerDown(row(500)!.firstElementChild!, { button: 0 });
    for (let i = 0; i < 40; i++) key('ArrowDown', { shiftKey: true });
    key('c', { ctrlKey: true });
    await settle(50);
    const copied = writeText.mock.calls[0]![0].split('\n');
    expect([copied[0], copied[1], copied[40], copied.length]).toEqual(['line 500', 'red 501', 'line 540', 42]);
    expect(screen.getByText('41 lines copied')).toBeTruthy();
  });

  it('begins to select lines in sight, whatever line was jumped to before', async () => {
    await opened({ initialLine: 10 });
    key('End');
    await settle();
    key('ArrowDown', { shiftKey: true });
    key('ArrowDown', { shiftKey: true });
    const chosen = [...document.querySelectorAll<HTMLElement>('[data-selected]')].map((element) => element.dataset.line);
    expect(chosen).toEqual(['990', '991']);
  });

  it('shows text as text, signs for what would hide, a cut, and a removed middle apart', async () => {
    lines.push('<script>alert(1)</script>', 'a\u202eb', 'long!', '… 3 GiB of the middle were removed');
    await opened();
    expect(document.querySelector('script')).toBeNull();
    expect(row(1000)!.textContent).toBe('<script>alert(1)</script>');
    expect(row(1001)!.textContent).toBe('aRLOb');
    expect(row(1002)!.textContent).toBe('long!… line is longer');
    expect(row(1003)!.dataset.removed).toBe('true');
  });

  it('draws anew only the line that was rewritten', async () => {
    const { rerender } = await opened({ size: 1 });
    const [other, bar] = [row(998)!.querySelector('bdi')!.firstChild, row(999)!];
    lines[999] = 'bar 50 %';
    rerender(view({ size: 2 }));
    await settle();
    expect(row(998)!.querySelector('bdi')!.firstChild).toBe(other);
    expect(row(999)).toBe(bar);
    expect(bar.textContent).toBe('bar 50 %');
  });

  it('begins anew with another log', async () => {
    const { rerender } = await opened();
    lines = ['another'];
    rerender(view({ logKey: '12/2' }));
    await settle();
    expect(texts()).toEqual(['another']);
  });

  it('says that nothing was written, and when it cannot be read', async () => {
    lines = [];
    await opened();
    expect(screen.getByText('Nothing has been written yet.')).toBeTruthy();
    cleanup();
    fetchLines.mockRejectedValueOnce(new Error('off'));
    render(view());
    await settle(50);
    expect(screen.getAllByText('The log cannot be read now. Trying again…').length).toBeGreaterThan(0);
  });
});

describe('a log in a window that changes', () => {
  let width = 800;
  let height = 190;
  let resized: (() => void)[] = [];
  // What a browser does and happy-dom does not: lines wrap, and the bar never stands farther down than there is room.
  const rowsOf = (element: HTMLElement) => Math.ceil((element.querySelector('bdi')?.textContent?.length ?? 0) / Math.max(10, Math.floor((width - 80) / 7.2))) + 1; // one more than was thought
  beforeEach(() => {
    [width, height, resized] = [800, 190, []];
    localStorage.setItem('trainyard.log.wrap', 'yes');
    lines = Array.from({ length: 1000 }, (_, i) => `${i} ${'abcdefgh '.repeat(40)}`);
    vi.stubGlobal('ResizeObserver', class {
      constructor(hear: () => void) {
        resized.push(hear);
      }
      observe() {}
      disconnect() {}
      unobserve() {}
    });
    vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockImplementation(() => width);
    vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockImplementation(() => height);
    vi.spyOn(HTMLElement.prototype, 'offsetHeight', 'get').mockImplementation(function (this: HTMLElement) {
      void document.querySelector('[role="log"]')?.scrollTop; // whoever asks for a height has all of it laid out
      return this.dataset.line ? 19 * rowsOf(this) : 0;
    });
    vi.spyOn(Element.prototype, 'scrollHeight', 'get').mockImplementation(function (this: Element) {
      return Number.parseFloat((this.firstElementChild as HTMLElement | null)?.style.height ?? '0');
    });
    const tops = new WeakMap<Element, number>();
    vi.spyOn(Element.prototype, 'scrollTop', 'set').mockImplementation(function (this: Element, top: number) {
      tops.set(this, top);
    });
    vi.spyOn(Element.prototype, 'scrollTop', 'get').mockImplementation(function (this: Element) {
      tops.set(this, Math.max(0, Math.min(tops.get(this) ?? 0, this.scrollHeight - this.clientHeight)));
      return tops.get(this)!;
    });
  });
  async function resize(to: { width?: number; height?: number }) {
    width = to.width ?? width;
    height = to.height ?? height;
    await act(async () => resized.forEach((hear) => hear()));
    await settle();
    fireEvent.scroll(log()); // the browser tells of a bar that it moved, too
    await settle();
  }
  const follows = () => screen.getByRole('button', { name: 'Follow the end (F)' }).getAttribute('aria-pressed');
  const above = () => {
    const drawn = [...document.querySelectorAll<HTMLElement>('[data-line]')].map((element) => ({ line: Number(element.dataset.line), y: Number(/translateY\((-?[\d.]+)px/.exec(element.style.transform)![1]) }));
    return drawn.filter(({ y }) => y <= 0).at(-1)!.line;
  };
  const endsAt = () => {
    const last = row(999)!;
    return Number(/translateY\((-?[\d.]+)px/.exec(last.style.transform)![1]) + last.offsetHeight;
  };

  it.each([true, false])('stays at its end when that is what is followed (ended: %s)', async (ended) => {
    await opened({ ended, size: 1 });
    expect([follows(), endsAt()]).toEqual(['true', 190]);
    for (const to of [{ width: 780 }, { width: 400 }, { height: 400 }, { width: 1200, height: 120 }, { width: 800, height: 600 }]) {
      await resize(to);
      expect([to, follows(), endsAt()]).toEqual([to, 'true', height]);
    }
  });

  it('keeps the line at its upper edge when one reads in its middle', async () => {
    await opened({ initialLine: 500 });
    const line = above();
    for (const to of [{ width: 400 }, { height: 400 }, { width: 1200 }, { width: 800, height: 190 }]) {
      await resize(to);
      expect([to, follows(), above()]).toEqual([to, 'false', line]);
    }
  });
});

it('copies no more than a limit, and says so', async () => {
  const endless = async (_from: number, count: number) => Array.from({ length: count }, () => ({ text: 'x', cut: false }));
  const { lines: count, all } = await textOf(endless, 0, 1_000_000);
  expect([count, all]).toEqual([20_000, false]);
});

it('is shown in the colours that lib/sgr keeps a contrast to', () => {
  const css = readFileSync('src/components/log/LogView.module.css', 'utf8');
  for (const scheme of ['light', 'dark'] as const) {
    const said = css.slice(css.indexOf(`scheme='${scheme}'`)).split('}')[0]!;
    const color = (name: string) => said.match(new RegExp(`--log-${name}: (#\\w{6})`))![1]!;
    expect([color('text'), color('background')]).toEqual([logColors[scheme].text, logColors[scheme].background]);
    expect(contrast(color('dimmed'), color('background'))).toBeGreaterThan(4.5);
    for (const behind of ['mark', 'current', 'selected']) expect(contrast(color('text'), color(behind)), `${scheme} ${behind}`).toBeGreaterThan(4.5);
  }
});
