import { MantineProvider } from '@mantine/core';
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import english from '@gen/en.json';
import { lineLook } from '@/lib/colors';
import { WordsProvider } from '@/lib/words';
import { Chart, type ChartProps } from './Chart';
import type { ChartLine } from './line';
import { linkedGroups } from './link';
import { Pace } from './pace';
import { Sparkline, sparkPaths } from './Sparkline';

// happy-dom draws nothing: a canvas that notes its colours stands in for one.
let strokes: string[] = [];
let frames = 0;
const watching = { sizes: 0, views: 0 };

beforeEach(() => {
  vi.useFakeTimers();
  strokes = [];
  frames = 0;
  watching.sizes = watching.views = 0;
  vi.stubGlobal('Path2D', class {});
  vi.stubGlobal(
    'ResizeObserver',
    class {
      observe() {
        watching.sizes++;
      }
      disconnect() {
        watching.sizes--;
      }
      unobserve() {}
    },
  );
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      observe() {
        watching.views++;
      }
      disconnect() {
        watching.views--;
      }
    },
  );
  vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(600);
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockImplementation(() => fakeContext() as never);
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function fakeContext() {
  const state: Record<string, unknown> = {};
  return new Proxy(state, {
    get(_, name) {
      if (name === 'measureText') return () => ({ width: 20 });
      if (name === 'stroke') return () => strokes.push(String(state.strokeStyle));
      if (name === 'clearRect') return () => void frames++;
      return name in state ? state[name as string] : () => undefined;
    },
    set(_, name, value) {
      state[name as string] = value;
      return true;
    },
  });
}

const lineOf = (label: string, ys: number[], slot = 0, scheme: 'light' | 'dark' = 'light'): ChartLine => ({
  key: label,
  label,
  look: lineLook(slot, scheme),
  points: { x: Float64Array.from(ys.keys()), y: Float64Array.from(ys) },
});
const loss = lineOf('loss', [3, 2, NaN, 1]);
const other = lineOf('other', [9, 8, 7, 6], 1);

function shown(props: Partial<ChartProps> = {}, scheme: 'light' | 'dark' = 'light') {
  return (
    <MantineProvider forceColorScheme={scheme}>
      <WordsProvider first="en" catalogue={english}>
        <Chart title="train/loss" x="step" lines={[loss, other]} {...props} />
      </WordsProvider>
    </MantineProvider>
  );
}
const settle = (ms = 600) => act(() => vi.advanceTimersByTimeAsync(ms));
const plot = () => screen.getByRole('group');
const entry = (name: string) => screen.getByRole('button', { name: new RegExp(`^${name}`) });

describe('a chart', () => {
  it('draws each line in its colour and tells NaN in its legend', async () => {
    render(shown());
    await settle();
    expect(strokes).toContain(loss.look.color);
    expect(strokes).toContain(other.look.color);
    expect(entry('loss').textContent).toContain('1 NaN');
  });

  it('is in the colours of the other theme at once', async () => {
    const { rerender } = render(shown());
    await settle();
    strokes = [];
    rerender(shown({ lines: [lineOf('loss', [3, 2, 1], 0, 'dark')] }, 'dark'));
    await settle(0);
    expect(strokes).toContain(lineLook(0, 'dark').color);
    expect(strokes).not.toContain(loss.look.color);
    expect(strokes).toContain('#292e34'); // the grid
    expect(strokes).not.toContain('#eceff2');
  });

  it('is drawn no more than four times a second, with the newest data last', async () => {
    const { rerender } = render(shown());
    await settle();
    frames = 0;
    for (let i = 0; i < 100; i++) {
      rerender(shown({ lines: [lineOf('loss', [i, i + 1])] }));
      await act(() => vi.advanceTimersByTimeAsync(10));
    }
    await act(() => vi.advanceTimersByTimeAsync(300));
    expect(frames).toBeGreaterThan(1);
    expect(frames).toBeLessThan(8);
  });

  it('draws its first lines also out of view, so that no legend ever stands without its curve', async () => {
    vi.stubGlobal(
      'IntersectionObserver',
      class {
        constructor(private readonly told: (entries: object[]) => void) {}
        observe() {
          this.told([{ isIntersecting: false }]);
        }
        disconnect() {}
      },
    );
    const { rerender } = render(shown({ lines: [lineOf('loss', [])] }));
    await settle();
    rerender(shown());
    await settle(0);
    expect(strokes).toContain(loss.look.color);
    strokes = [];
    rerender(shown({ lines: [lineOf('loss', [3, 2, 1])] }));
    await settle();
    expect(strokes).toEqual([]); // what is new waits until somebody looks
  });

  it('shows and hides a line by its name, and one alone by a key', async () => {
    render(shown());
    fireEvent.click(entry('loss'));
    expect([entry('loss'), entry('other')].map((button) => button.getAttribute('aria-pressed'))).toEqual(['false', 'true']);
    strokes = [];
    await settle();
    fireEvent.keyDown(entry('loss'), { key: 's' });
    expect([entry('loss'), entry('other')].map((button) => button.getAttribute('aria-pressed'))).toEqual(['true', 'false']);
    fireEvent.keyDown(entry('loss'), { key: 's' });
    expect(entry('other').getAttribute('aria-pressed')).toBe('true');
  });

  it('has a cursor for the arrow keys that says what is there, largest first', async () => {
    render(shown());
    await settle();
    fireEvent.keyDown(plot(), { key: 'ArrowRight' });
    fireEvent.keyDown(plot(), { key: 'ArrowRight' });
    expect(document.querySelector('[aria-live]')!.textContent).toBe('step 1, other: 8, loss: 2');
  });

  it('zooms by keys and by its buttons, and tells', async () => {
    const onZoom = vi.fn();
    render(shown({ onZoom }));
    await settle();
    fireEvent.keyDown(plot(), { key: '+' });
    expect(onZoom).toHaveBeenLastCalledWith({ from: 0.75, to: 2.25 });
    fireEvent.click(screen.getByRole('button', { name: 'Show all' }));
    expect(onZoom).toHaveBeenLastCalledWith(null);
    fireEvent.keyDown(plot(), { key: '+' });
    fireEvent.keyDown(plot(), { key: 'Escape' });
    expect(onZoom).toHaveBeenLastCalledWith(null);
  });

  it('leaves keys alone that belong to a half-typed word', () => {
    const onZoom = vi.fn();
    render(shown({ onZoom }));
    fireEvent.keyDown(plot(), { key: '+', keyCode: 229 });
    expect(onZoom).not.toHaveBeenCalled();
  });

  it('is a table for whoever wants one, and a text for whoever cannot see it', () => {
    render(shown());
    expect(screen.getByText('loss: 4 points, from 3 to 1, least 1, most 3.')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'As a table' }));
    const rows = screen.getAllByRole('row').map((row) => [...row.children].map((cell) => cell.textContent));
    expect(rows).toEqual([['Step', 'loss', 'other'], ['0', '3', '9'], ['1', '2', '8'], ['2', 'NaN', '7'], ['3', '1', '6']]);
  });

  it('says how many values a log axis has no place for', () => {
    render(shown({ lines: [lineOf('loss', [0, -1, 0, 5])], scale: 'log' }));
    expect(screen.getByText('3 values ≤ 0')).toBeTruthy();
  });

  it('says that there is nothing', () => {
    const { rerender } = render(shown({ lines: [], loading: true }));
    expect(screen.getByText('Loading…')).toBeTruthy();
    rerender(shown({ lines: [] }));
    expect(screen.getByText('No values yet.')).toBeTruthy();
    rerender(shown({ range: { from: 100, to: 200 } }));
    expect(screen.getByText('No values in this range.')).toBeTruthy();
  });

  it('shows names as text whatever they are', () => {
    render(shown({ title: '<img src=x>', lines: [lineOf('<b onclick=alert(1)>', [1, 2])] }));
    expect(document.querySelector('b, img')).toBeNull();
    expect(screen.getByText('<b onclick=alert(1)>')).toBeTruthy();
  });

  it('shares its cursor with charts of the same key', async () => {
    render(
      <>
        {shown({ sync: 'a' })}
        {shown({ sync: 'a', title: 'second' })}
      </>,
    );
    await settle();
    const [first] = screen.getAllByRole('group');
    fireEvent.keyDown(first!, { key: 'ArrowRight' });
    fireEvent.keyDown(first!, { key: 'ArrowRight' });
    const cursors = [...document.querySelectorAll<HTMLElement>('.u-cursor-x')].map((cursor) => cursor.style.transform);
    expect(cursors[1]).toBe(cursors[0]);
    expect(cursors[0]).not.toBe('');
  });

  it('leaves nothing behind after two hundred came and went', async () => {
    const counts = { window: 0, document: 0 };
    for (const [name, target] of [['window', window], ['document', document]] as const) {
      const [add, remove] = [target.addEventListener.bind(target), target.removeEventListener.bind(target)];
      vi.spyOn(target, 'addEventListener').mockImplementation((...words: unknown[]) => {
        counts[name]++;
        (add as (...all: unknown[]) => void)(...words);
      });
      vi.spyOn(target, 'removeEventListener').mockImplementation((...words: unknown[]) => {
        counts[name]--;
        (remove as (...all: unknown[]) => void)(...words);
      });
    }
    const once = async () => {
      const { unmount } = render(shown({ sync: 'leak' }));
      await settle();
      unmount();
    };
    await once();
    const before = { ...counts };
    for (let i = 0; i < 200; i++) await once();
    expect(counts).toEqual(before);
    expect(watching).toEqual({ sizes: 0, views: 0 });
    expect([linkedGroups(), vi.getTimerCount(), document.querySelectorAll('canvas').length]).toEqual([0, 0, 0]);
  }, 60_000);
});

describe('pace', () => {
  it('lets the first through, then one in a period, the newest', () => {
    const pace = new Pace(250);
    const done: number[] = [];
    for (let i = 0; i < 10; i++) pace.run(() => done.push(i));
    expect(done).toEqual([0]);
    vi.advanceTimersByTime(250);
    expect(done).toEqual([0, 9]);
  });
  it('lets what is urgent through at once, and forgets what waited', () => {
    const pace = new Pace(250);
    const done: string[] = [];
    pace.run(() => done.push('first'));
    pace.run(() => done.push('old'));
    pace.run(() => done.push('theme'), true);
    vi.advanceTimersByTime(1000);
    expect(done).toEqual(['first', 'theme']);
  });
});

describe('a sparkline', () => {
  it('is broken where nothing is known, and a dot where one value stands alone', () => {
    const { line } = sparkPaths([0, 100, null, 50, NaN, 20], 100, 52, 23);
    expect(line).toBe('M1,21.5L11,1.5M31,11.5L31,11.5M51,17.5L51,17.5');
  });
  it('draws nothing of nothing, and keeps within its box', () => {
    expect(sparkPaths([], undefined, 50, 20)).toEqual({ line: '', area: '' });
    expect(sparkPaths([500, -5], 100, 52, 23).line).toBe('M1,1.5L51,21.5');
    expect(sparkPaths([0, 0], undefined, 52, 23).line).toBe('M1,21.5L51,21.5');
  });
  it('has a label in place of a picture', () => {
    render(<Sparkline values={[1, 2]} label="GPU 0 load 97 %" />);
    expect(screen.getByRole('img', { name: 'GPU 0 load 97 %' })).toBeTruthy();
  });
});
