import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChartProps } from '@/components/chart';
import type { LogViewProps } from '@/components/log';
import { Live } from '@/lib/live';
import { LiveProvider } from '@/lib/useLive';
import { WordsProvider } from '@/lib/words';
import catalogue from '@gen/en.json';
import { beginAct, endAct } from '@/features/tasks';
import { TaskPage } from './TaskPage';

const charts: ChartProps[] = [];
vi.mock('@/components/chart', () => ({
  Chart: (props: ChartProps) => {
    charts.push(props);
    return <div data-testid="chart">{`${props.title}: ${props.lines.map((line) => line.label).join(', ')}`}</div>;
  },
}));
const logs: LogViewProps[] = [];
vi.mock('@/components/log', () => ({
  LogView: (props: LogViewProps) => {
    logs.push(props);
    return <div data-testid="log">{props.logKey}</div>;
  },
}));

const message = (text: string, id = 'a.b') => ({ id, args: {}, text });
const attempt = (number: number, change: object = {}) => ({ number, uid: 'u', devices: ['GPU-a'], state: 'running', resume: null, started_at: '2026-11-30T10:00:00Z', ended_at: null, outcome: null, rule: null, processes: 1, ranks: [], log_path: '/l', ...change });
const base = {
  id: 12, uid: 'u', name: 'sft', state: 'running', held: false, priority: 0, submitted_at: '2026-11-30T09:00:00Z', started_at: '2026-11-30T10:00:00Z', ended_at: null,
  devices: ['GPU-a'], share: null, frozen: false, attempt: 1, progress: { done: 3, total: 20, fraction: 0.15, unit: 'epoch', phase: '' }, time_left_s: 600, metrics: { lr: 0.1, loss: 'NaN' },
  reason: null, outcome: null, tags: ['llama'], retries: 0, checkpoint: null, attempts: [attempt(1)], spec: { command: ['python', 'a b.py'], workdir: '/home/ann/run' }, code_changed: [], out_folder: '/out', log_path: '/l',
};
const failure = { kind: 'failed', class: 'script', exit_code: 1, signal: null, failed_rank: null, core_dumped: false, core_file: null, reason: message('It failed.', 'outcome.script_exception'), evidence: 'KeyError: 1' };
const failed = { ...base, state: 'ended', ended_at: '2026-11-30T11:00:00Z', outcome: failure, attempts: [attempt(1, { state: 'ended', outcome: failure })] };

let task: object;
let series: object;
let asked: URL[] = [];
let acts: { path: string; body: unknown }[] = [];
let refuse: string | null;
const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status, headers: { 'Content-Type': status < 400 ? 'application/json' : 'application/problem+json' } });

/** A body of points with one value per attempt. */
function pointsBody(tag: string) {
  let head = JSON.stringify({ tag, x: 'step', version: 1, parts: [1, 2].map((number) => ({ attempt: number, points: 1, given: 1, marks: 0, smooth: 0, exact: true })) });
  while (head.length % 8) head += ' ';
  const bytes = new Uint8Array(8 + head.length + 32);
  bytes.set(new TextEncoder().encode('TYP1'));
  new DataView(bytes.buffer).setUint32(4, head.length, true);
  bytes.set(new TextEncoder().encode(head), 8);
  return bytes;
}

beforeEach(() => {
  task = base;
  series = { version: 1, items: [] };
  asked = [];
  acts = [];
  refuse = null;
  charts.length = 0;
  logs.length = 0;
  localStorage.clear();
  history.replaceState(null, '', '/tasks/12');
  Element.prototype.scrollIntoView = () => {};
  vi.stubGlobal('IntersectionObserver', undefined);
  vi.stubGlobal('fetch', async (input: Request | URL, init?: RequestInit) => {
    const request = input instanceof Request ? input : new Request(input, init);
    const url = new URL(request.url);
    asked.push(url);
    const path = url.pathname.replace('/api/v1', '');
    if (request.method === 'POST') {
      acts.push({ path, body: await request.json() });
      if (refuse) return json({ items: [{ id: 12, ok: false, problem: { type: 'about:blank', title: '', status: 409, detail: refuse, code: 'conflict', message: message(refuse) } }] });
      return json({ items: [{ id: 12, ok: true }] });
    }
    if (path === '/tasks/12') return json(task);
    if (path === '/devices') return json({ items: [{ id: 'GPU-a', label: 'GPU0' }], next: null, probe: {} });
    if (path.endsWith('/series')) return json(series);
    if (path.endsWith('/points')) return new Response(pointsBody(url.searchParams.get('tag')!));
    if (path.endsWith('/tail')) return json({ attempt: 1, rank: null, lines: ['one', 'KeyError: 1'], exception: 'KeyError: 1' });
    if (path.endsWith('/lines')) return json({ attempt: 1, rank: null, first: 0, total: 2, whole: true, ended: false, size: 10, items: [] });
    if (path.endsWith('/files')) return json({ cut: false, items: [{ path: 'out/<b>.pt', where: 'output', bytes: 2048, modified_at: '2026-11-30T10:00:00Z' }] });
    return json({ type: 'about:blank', title: '', status: 404, detail: 'There is no task 99.', code: 'not_found', message: message('') }, 404);
  });
});
afterEach(() => {
  cleanup();
  endAct(12);
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

let tell: (topic: string, value: unknown) => Promise<void>;
async function open(id = 12) {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: Infinity } } });
  const socket = { readyState: 1, send: () => {}, close: () => {} } as unknown as WebSocket;
  const live = new Live({ url: () => 'ws://x', poll: () => Promise.reject(new Error('off')), socket: () => socket });
  live.start();
  const say = (frame: object) => socket.onmessage?.({ data: JSON.stringify(frame) } as MessageEvent);
  say({ hello: { version: '1', seq: 1, now: new Date().toISOString() } });
  tell = async (topic, value) => act(async () => say({ topic, seq: 2, value }));
  render(
    <MantineProvider env="test">
      <WordsProvider first="en" catalogue={catalogue}>
        <QueryClientProvider client={queries}>
          <LiveProvider value={live}>
            <TaskPage id={id} />
          </LiveProvider>
        </QueryClientProvider>
      </WordsProvider>
    </MantineProvider>,
  );
  await waitFor(() => expect(screen.queryByLabelText('Loading…')).toBe(null));
}
const button = (name: string | RegExp) => screen.getByRole<HTMLButtonElement>('button', { name });

describe('the page of a running task', () => {
  it('shows how it stands without a click: progress, time left, newest values with losses first', async () => {
    await open();
    expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('sft');
    expect(screen.getByText('epoch 3 of 20')).toBeTruthy();
    expect(screen.getByText('10 min left')).toBeTruthy();
    expect(await screen.findAllByText('GPU0')).toHaveLength(2);
    const values = within(screen.getByLabelText('Newest values')).getAllByRole('definition').map((value) => value.textContent);
    expect(values).toEqual(['NaN', '0.1']);
  });
  it('says at which step it would go on', async () => {
    task = { ...base, checkpoint: { path: '/c/120.pt', step: 120, bytes: 1024, attempt: 1 } };
    await open();
    expect(await screen.findByText('last checkpoint: step 120')).toBeTruthy();
  });
  it('moves with the live topic', async () => {
    await open();
    await tell('task/12', { ...base, progress: { ...base.progress, done: 4 } });
    expect(await screen.findByText('epoch 4 of 20')).toBeTruthy();
  });
  it('stops after a question, and stays locked until the state has changed', async () => {
    await open();
    fireEvent.click(button('Stop'));
    const ask = await screen.findByRole('dialog');
    expect(acts).toEqual([]);
    fireEvent.click(within(ask).getByRole('button', { name: 'Stop' }));
    await waitFor(() => expect(acts).toEqual([{ path: '/tasks/cancel', body: { tasks: [12] } }]));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBe(null));
    await waitFor(() => expect(screen.getByRole('button', { name: 'Stop' }).hasAttribute('data-loading')).toBe(true));
    expect(button('Clone').disabled).toBe(true);
    await tell('task/12', { ...base, state: 'stopping' });
    await waitFor(() => expect(button('Stop now').disabled).toBe(false));
    expect(button('Clone').disabled).toBe(false);
  });
  it('is locked by what was asked for in a list, and says when that takes long', async () => {
    await open();
    await act(async () => beginAct(base as never, 'cancel'));
    expect(screen.getByRole('button', { name: 'Stop' }).hasAttribute('data-loading')).toBe(true);
    expect(button('Clone').disabled).toBe(true);
    await tell('task/12', { ...base, state: 'stopping' });
    await waitFor(() => expect(button('Clone').disabled).toBe(false));
    vi.useFakeTimers();
    fireEvent.click(button('Stop now'));
    await act(() => vi.advanceTimersByTimeAsync(1000)); // the question comes
    fireEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Stop now' }));
    await act(() => vi.advanceTimersByTimeAsync(29_000));
    expect(button('Clone').disabled).toBe(true);
    await act(() => vi.advanceTimersByTimeAsync(2_000));
    expect(screen.getByRole('alert').textContent).toContain('The yard has not done it yet');
    expect(button('Clone').disabled).toBe(false);
  });
  it('asks once for what is pressed ten times before the page is drawn again', async () => {
    task = { ...base, state: 'waiting', devices: [], attempt: null, attempts: [] };
    await open();
    const hold = button('Hold');
    await act(async () => {
      for (let i = 0; i < 10; i++) hold.click();
    });
    await waitFor(() => expect(acts).toEqual([{ path: '/tasks/hold', body: { tasks: [12] } }]));
  });
  it('shows a refusal as the sentence it is', async () => {
    task = { ...base, state: 'waiting', devices: [], attempt: null, attempts: [], reason: message('Waits for 2 GPUs.') };
    refuse = 'Task 12 is running; only a waiting task can be held.';
    await open();
    fireEvent.click(button('Hold'));
    expect(await screen.findByText(refuse)).toBeTruthy();
    expect(button('Hold').disabled).toBe(false);
  });
  it('gives the log of the newest run, or the one that the address names with its line', async () => {
    task = { ...base, attempts: [attempt(1), attempt(2)], attempt: 2 };
    await open();
    expect(screen.getByTestId('log').textContent).toBe('12/2/-');
    cleanup();
    history.replaceState(null, '', '/tasks/12?attempt=1&line=123');
    await open();
    expect(logs.at(-1)).toMatchObject({ logKey: '12/1/-', initialLine: 122 });
    await tell('log/12/1/-', { size: 4096, ended: true });
    await waitFor(() => expect(logs.at(-1)).toMatchObject({ size: 4096, ended: true }));
  });
  it('offers the ranks of a run that has them', async () => {
    task = { ...base, spec: { ...base.spec, ranks: true }, attempts: [attempt(1, { processes: 2 })] };
    await open();
    fireEvent.change(screen.getByLabelText('Log of which rank'), { target: { value: '1' } });
    expect(screen.getByTestId('log').textContent).toBe('12/1/1');
    expect(location.search).toBe('?rank=1');
  });
  it('warns that the code has changed, and shows the command as one would type it', async () => {
    task = { ...base, code_changed: ['/home/ann/run/a b.py'] };
    await open();
    expect(screen.getByText(/1 file has changed since it was submitted/)).toBeTruthy();
    expect(screen.getByText("python 'a b.py'")).toBeTruthy();
  });
  it('lists files as text with links to download', async () => {
    await open();
    const link = await screen.findByRole<HTMLAnchorElement>('link', { name: 'out/<b>.pt' });
    expect(new URL(link.href).searchParams.get('path')).toBe('out/<b>.pt');
    expect(link.hasAttribute('download')).toBe(true);
  });
  it('says of a task that is not there what the yard says', async () => {
    await open(99);
    expect(await screen.findByText('There is no task 99.')).toBeTruthy();
    expect(screen.getByRole('link', { name: 'To all tasks' })).toBeTruthy();
  });
});

describe('the page of a waiting task', () => {
  it('opens on why it waits, and can move it to the front', async () => {
    task = { ...base, state: 'waiting', devices: [], attempt: null, attempts: [], reason: message('Waits for 2 GPUs; 1 is free.') };
    await open();
    const why = screen.getByRole('region', { name: 'Why it waits' });
    expect(within(why).getByText('Waits for 2 GPUs; 1 is free.')).toBeTruthy();
    fireEvent.click(within(why).getByRole('button', { name: 'Move to front' }));
    await waitFor(() => expect(acts).toEqual([{ path: '/tasks/priority', body: { tasks: [12], first: true } }]));
    expect(screen.getByText(/No run yet/)).toBeTruthy();
  });
  it('takes a priority as a number', async () => {
    task = { ...base, state: 'waiting', attempts: [], reason: message('Waits.') };
    await open();
    fireEvent.click(button('priority 0'));
    fireEvent.change(await screen.findByLabelText('Priority'), { target: { value: '-5' } });
    fireEvent.click(button('Set'));
    await waitFor(() => expect(acts).toEqual([{ path: '/tasks/priority', body: { tasks: [12], priority: -5 } }]));
  });
});

describe('the page of a failed task', () => {
  it('opens on what happened: reason, class, code, the line and the last lines', async () => {
    task = failed;
    await open();
    const end = screen.getByRole('region', { name: 'How it ended' });
    expect(within(end).getByText('It failed.')).toBeTruthy();
    expect(within(end).getByText('kind of failure: error in the program · exit code 1')).toBeTruthy();
    expect((await within(end).findByLabelText('The last lines of its log')).textContent).toBe('one\nKeyError: 1\n');
    expect(within(end).getAllByText('KeyError: 1')).toHaveLength(2);
  });
  it('queues it again, from its checkpoint where it has one', async () => {
    task = { ...failed, checkpoint: { path: '/c', step: 400, bytes: 1, attempt: 1 } };
    await open();
    fireEvent.click(button('Retry from step 400'));
    await waitFor(() => expect(acts).toEqual([{ path: '/tasks/retry', body: { tasks: [12] } }]));
  });
  it('goes to a clone of it', async () => {
    task = failed;
    await open();
    fireEvent.click(button('Change and queue again'));
    expect(location.pathname + location.search).toBe('/new?like=12');
  });
  it('is removed after a question, and the page is left', async () => {
    task = failed;
    await open();
    fireEvent.click(button('Remove'));
    fireEvent.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Remove' }));
    await waitFor(() => expect(location.pathname).toBe('/tasks'));
    expect(acts).toEqual([{ path: '/tasks/remove', body: { tasks: [12] } }]);
  });
});

describe('the curves', () => {
  const part = (number: number, points = 1) => ({ attempt: number, points, first_step: 0, last_step: 1, last: 1, least: 1, most: 1, nan: 0, inf: 0 });
  const withTags = (...tags: string[]) => ({ version: 1, items: tags.map((tag) => ({ tag, parts: [part(1), part(2)] })) });
  const pointsAsked = () => asked.filter((url) => url.pathname.endsWith('/points')).map((url) => url.searchParams.toString());

  it('say what would make one', async () => {
    await open();
    expect(await screen.findByText('epoch 3/20 loss=0.53')).toBeTruthy();
  });
  it('group what belongs together, with the older run behind', async () => {
    series = withTags('val/loss', 'lr', 'train/loss');
    await open();
    await waitFor(() => expect(screen.getAllByTestId('chart').map((chart) => chart.textContent)).toEqual(['loss: train, val, train · run 1, val · run 1', 'lr: lr, lr · run 1']));
    fireEvent.click(screen.getByRole('switch', { name: 'Earlier runs' }));
    expect(screen.getAllByTestId('chart')[0]!.textContent).toBe('loss: train, val');
  });
  it('ask anew for the range that was zoomed to, all of them, and keep it in the address', async () => {
    series = withTags('loss', 'lr');
    await open();
    await waitFor(() => expect(charts.at(-1)!.lines.length).toBeGreaterThan(0));
    act(() => charts.at(-1)!.onZoom!({ from: 10, to: 20 }));
    await waitFor(() => expect(pointsAsked().filter((query) => query.includes('from=10&to=20'))).toHaveLength(2));
    await waitFor(() => expect(location.search).toBe('?from=10&to=20'));
    fireEvent.click(screen.getByText('Time'));
    await waitFor(() => expect(pointsAsked().at(-1)).toContain('x=time'));
    expect(pointsAsked().at(-1)).not.toContain('from');
  });
  it('ask for new points of what grew alone, at most once a second, without dimming the curve', async () => {
    series = withTags('loss', 'lr');
    await open();
    await waitFor(() => expect(screen.getAllByTestId('chart').map((chart) => chart.textContent)).toEqual(['loss: loss, loss · run 1', 'lr: lr, lr · run 1']));
    expect(pointsAsked()).toHaveLength(2);
    series = { version: 9, items: [{ tag: 'loss', parts: [part(1), part(2, 2)] }, withTags('lr').items[0]] };
    charts.length = 0;
    for (const version of [7, 8, 9]) await tell('series/12', { version });
    await waitFor(() => expect(pointsAsked()).toHaveLength(3));
    expect(pointsAsked()[2]).toContain('tag=loss');
    expect(asked.filter((url) => url.pathname.endsWith('/series'))).toHaveLength(2);
    expect(charts.some((chart) => chart.stale)).toBe(false);
    expect(charts.every((chart) => chart.lines.length > 0)).toBe(true);
  });
  it('do nothing while they are out of view', async () => {
    vi.stubGlobal('IntersectionObserver', class {
      observe() {}
      disconnect() {}
    });
    series = withTags('loss');
    await open();
    expect(await screen.findByText('loss', { selector: 'div' })).toBeTruthy();
    expect(pointsAsked()).toEqual([]);
  });
});
