import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Device, Task } from '@/lib/api';
import { OverviewPage } from './OverviewPage';
import { device, ended, fakeYard, giveRoom, lease, message, renderInYard, status, task, type Asked } from './testing';

let waiting: Task[] = [];
let running: Task[] = [];
let past: Task[] = [];
let devices: Device[] = [];
let paused = false;
let refusal = '';
const list = (items: Task[]) => ({ items, next: null });
const now = () => status({ waiting: waiting.filter(({ held }) => !held).length, held: waiting.filter(({ held }) => held).length, running: running.length, devices_free: devices.filter(({ state }) => state === 'free').length }, { queue: { paused } });
const deviceList = () => ({ items: devices, next: null, probe: { state: 'good', reason: null, driver: null, cuda: null } });

function place({ body }: Asked) {
  if (refusal) throw new Error(refusal);
  const { tasks, before, after, first } = body as { tasks: number[]; before?: number; after?: number; first?: boolean };
  const row = waiting.find(({ id }) => id === tasks[0])!;
  waiting = waiting.filter((each) => each !== row);
  const at = first ? 0 : before ? waiting.findIndex(({ id }) => id === before) : waiting.findIndex(({ id }) => id === after) + 1;
  waiting.splice(at, 0, row);
  return { items: [{ id: tasks[0], ok: true }] };
}
function begin() {
  const asked = fakeYard({
    'GET /status': now,
    'GET /devices': deviceList,
    'GET /tasks': ({ query }) => list({ running, waiting, ended: past, all: [...running, ...waiting, ...past] }[query.get('state') ?? 'all'] ?? []),
    'POST /tasks/priority': place,
    'POST /queue/pause': () => ({ paused: (paused = true) }),
    'POST /queue/resume': () => ({ paused: (paused = false) }),
    'POST /devices/release': () => ({ items: [{ device: 'GPU2', ok: true }] }),
  });
  return { asked, ...renderInYard(<OverviewPage />) };
}
const posts = (asked: { method: string; path: string; body: unknown }[]) => asked.filter(({ method }) => method === 'POST').map(({ path, body }) => [path, body]);
const order = () =>
  [...screen.getByRole('grid', { name: 'Queue' }).querySelectorAll<HTMLElement>('[data-row]')]
    .sort((a, b) => Number(a.getAttribute('aria-rowindex')) - Number(b.getAttribute('aria-rowindex')))
    .map((row) => Number(row.dataset.row));
const row = (id: number) => document.querySelector<HTMLElement>(`[data-row="${id}"]`)!;

beforeEach(() => {
  giveRoom();
  localStorage.clear();
  [waiting, running, past, devices] = [[task(11), task(12), task(13)], [], [], [device(0)]];
  paused = false;
  refusal = '';
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('an empty yard invites instead of showing empty tables, and links to the first run while nothing was ever queued', async () => {
  waiting = [];
  begin();
  expect(await screen.findByText('trainyard run python3 train.py')).toBeTruthy();
  expect(screen.queryByRole('grid')).toBeNull();
  expect((await screen.findByText('Check the machine and run a first task')).getAttribute('href')).toBe('/welcome');
});

test('a yard that has run something does not speak of the first run', async () => {
  waiting = [];
  past = [ended(1, 'succeeded')];
  begin();
  await screen.findByText('Recently ended');
  expect(screen.queryByText('Check the machine and run a first task')).toBeNull();
});

test('the line at the top tells what there is and which device frees next', async () => {
  running = [task(5, { state: 'running', time_left_s: 350, started_at: '2026-11-30T10:00:00.000Z' })];
  devices = [device(1, { state: 'leased', leases: [lease(5)] })];
  begin();
  expect(await screen.findByText('GPU1 frees next, in about 6 min')).toBeTruthy();
  expect(screen.getByText('3 waiting')).toBeTruthy();
});

test('Alt with an arrow moves a row at once, keeps the focus on it, and asks the yard once for several steps', async () => {
  const { asked } = begin();
  await screen.findByText('task-13');
  row(13).focus();
  fireEvent.keyDown(row(13), { key: 'ArrowUp', altKey: true });
  fireEvent.keyDown(row(13), { key: 'ArrowUp', altKey: true });
  expect(order()).toEqual([13, 11, 12]);
  expect(document.activeElement).toBe(row(13));
  await waitFor(() => expect(posts(asked)).toEqual([['/tasks/priority', { tasks: [13], first: true }]]));
  await waitFor(() => expect(screen.queryByLabelText('Being moved')).toBeNull());
  expect(order()).toEqual([13, 11, 12]);
});

test('a row that is moved and moved back asks nothing', async () => {
  const { asked } = begin();
  await screen.findByText('task-12');
  fireEvent.keyDown(row(12), { key: 'ArrowUp', altKey: true });
  fireEvent.keyDown(row(12), { key: 'ArrowDown', altKey: true });
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(posts(asked)).toEqual([]);
  expect(order()).toEqual([11, 12, 13]);
});

test("a place that the yard refuses is taken back, with the yard's sentence above the queue", async () => {
  refusal = 'Task 13 runs already.';
  begin();
  await screen.findByText('task-13');
  fireEvent.keyDown(row(13), { key: 'ArrowUp', altKey: true });
  expect(order()).toEqual([11, 13, 12]);
  expect((await screen.findByRole('alert')).textContent).toContain('Task 13 runs already.');
  await waitFor(() => expect(order()).toEqual([11, 12, 13]));
});

test('rows do not move while a menu is open, and do once it is closed', async () => {
  const { say } = begin();
  await screen.findByText('task-11');
  fireEvent.click(screen.getByRole('button', { name: 'Actions for task-12' }));
  await screen.findByText('Set priority…');
  waiting = [waiting[2]!, waiting[1]!, waiting[0]!];
  say('queue', { waiting: 3, held: 0, paused: false });
  await new Promise((resolve) => setTimeout(resolve, 1300));
  expect(order()).toEqual([11, 12, 13]);
  fireEvent.keyDown(screen.getByRole('menu'), { key: 'Escape' });
  await waitFor(() => expect(order()).toEqual([13, 12, 11]));
});

test('pausing is locked until the yard says that it is paused, and is then plain to see', async () => {
  const { asked, say } = begin();
  fireEvent.click(await screen.findByRole('button', { name: 'Pause the queue' }));
  expect((screen.getByRole('button', { name: 'Pause the queue' }) as HTMLButtonElement).disabled).toBe(true);
  await waitFor(() => expect(posts(asked)).toEqual([['/queue/pause', {}]]));
  say('yard', now());
  expect(await screen.findByText('The queue is paused: what runs goes on, nothing new starts.')).toBeTruthy();
  expect((screen.getAllByRole('button', { name: 'Resume the queue' }).at(-1) as HTMLButtonElement).disabled).toBe(false);
});

test('a device in use from outside says why, and is released only after a question', async () => {
  devices = [device(2, { state: 'foreign', usable: false, reason: message('device.foreign', 'GPU2 is used by <wei>.'), processes: [{ pid: 33, type: 'compute', memory: 2 ** 30, user: 'wei', command: '<img src=x>', since: null, task: null, foreign: true }] })];
  const { asked } = begin();
  expect(await screen.findByText('GPU2 is used by <wei>.')).toBeTruthy();
  expect(screen.getByText('<img src=x>')).toBeTruthy();
  fireEvent.click(screen.getByRole('button', { name: 'Release GPU2' }));
  const dialog = await screen.findByRole('dialog');
  expect(posts(asked)).toEqual([]);
  fireEvent.click(within(dialog).getByRole('button', { name: 'Release' }));
  await waitFor(() => expect(posts(asked)).toEqual([['/devices/release', { devices: ['GPU-2'] }]]));
});

test('a figure that a device does not tell is a dash with the reason, never 0', async () => {
  devices = [device(0, { memory: { total: 0, used: null }, reading: { ...device(0).reading!, utilisation: null, power_w: null, temperature_c: null } })];
  begin();
  await screen.findByText('GPU0');
  const untold = screen.getAllByText('n/a').map((each) => each.parentElement!);
  expect(untold.map((each) => each.title)).toContain('Load: the device does not tell');
  expect(untold.map((each) => each.textContent)).toEqual(['—n/a', '—n/a', '— Wn/a', '— °Cn/a']);
  expect(screen.queryByText(/^0 %/)).toBeNull();
});

test('sharers of a device are links with their parts, and who awaits its turn says so', async () => {
  devices = [device(0, { state: 'shared', leases: [lease(5, { share: 0.5, mode: 'turns' }), lease(6, { share: 0.25, mode: 'turns', frozen: true })] })];
  begin();
  expect((await screen.findByText('task-5')).closest('a')!.getAttribute('href')).toBe('/tasks/5');
  expect(screen.getByText('50 % in turns')).toBeTruthy();
  expect(screen.getByText(/25 % · ❄ awaits its turn/)).toBeTruthy();
});

test('a failure is told until it is dismissed, and stays dismissed', async () => {
  past = [ended(3, 'failed', { name: 'lora', outcome: { kind: 'failed', class: '', exit_code: 1, signal: null, failed_rank: null, core_dumped: false, core_file: null, reason: message('outcome.x', 'No memory.'), evidence: '' } })];
  begin();
  expect(await screen.findByText('lora failed: No memory.')).toBeTruthy();
  fireEvent.click(screen.getByRole('button', { name: 'Dismiss the failure of lora' }));
  expect(screen.queryByText('lora failed: No memory.')).toBeNull();
  cleanup();
  begin();
  await screen.findByText('Recently ended');
  expect(screen.queryByText('lora failed: No memory.')).toBeNull();
});

test('a task that ends appears among those that ended without being asked for', async () => {
  const { say } = begin();
  await screen.findByText('Nothing ended in the last 24 hours.');
  past = [ended(4, 'succeeded')];
  say('events', { items: [{ kind: 'task.ended' }], next: 9 });
  expect(await screen.findByText('task-4')).toBeTruthy();
});

test('of many waiting tasks only those in view exist', async () => {
  waiting = Array.from({ length: 200 }, (_, i) => task(100 + i));
  begin();
  await screen.findByText('task-100');
  expect(order().length).toBeLessThan(40);
});
