import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { beginAct, endAct } from '@/features/tasks';
import { TasksPage } from './TasksPage';
import { ended, fakeYard, giveRoom, renderInYard, task, type Asked } from './testing';

let tasks = [task(1), task(2, { held: true }), ended(3, 'failed', { name: '<b>x</b>', tags: ['nightly'] })];
const refusals = new Map<number, string>();
const acts = ({ body }: Asked) => ({
  items: (body as { tasks: number[] }).tasks.map((id) => (refusals.has(id) ? { id, ok: false, problem: { detail: refusals.get(id) } } : { id, ok: true })),
});
const begin = (place = '/tasks') => {
  const asked = fakeYard({
    'GET /tasks': ({ query }) => ({ items: query.get('state') === 'running' ? [] : tasks.filter((each) => query.get('state') !== 'failed' || each.outcome?.kind === 'failed'), next: null }),
    'POST /tasks/cancel': acts,
    'POST /tasks/hold': acts,
    'POST /tasks/remove': acts,
  });
  return { asked, ...renderInYard(<TasksPage />, place) };
};
const posts = (asked: { method: string; path: string; body: unknown }[]) => asked.filter(({ method }) => method === 'POST').map(({ path, body }) => [path, body]);

beforeEach(() => {
  giveRoom();
  refusals.clear();
  tasks = [task(1), task(2, { held: true }), ended(3, 'failed', { name: '<b>x</b>', tags: ['nightly'] })];
});
afterEach(() => {
  cleanup();
  for (const { id } of tasks) endAct(id);
  vi.unstubAllGlobals();
});

test('names are text, whatever they hold', async () => {
  begin();
  expect(await screen.findByText('<b>x</b>')).toBeTruthy();
});

test('the state is chosen by a button and stands in the address', async () => {
  const { asked, location } = begin();
  await screen.findByText('task-1');
  fireEvent.click(screen.getByRole('button', { name: 'Failed' }));
  await waitFor(() => expect(location.history.at(-1)).toBe('/tasks?state=failed'));
  await waitFor(() => expect(screen.queryByText('task-1')).toBeNull());
  expect(asked.some(({ query }) => query.get('state') === 'failed' && query.get('limit') === '200')).toBe(true);
});

test('an address opens with its filters', async () => {
  const { asked } = begin('/tasks?state=failed&tag=nightly');
  await screen.findByText('<b>x</b>');
  expect(asked.find(({ path, query }) => path === '/tasks' && query.get('tag') === 'nightly')?.query.get('state')).toBe('failed');
});

test('an action on several asks first and says for how many, and leaves out those it is not for', async () => {
  const { asked } = begin();
  await screen.findByText('task-1');
  fireEvent.click(screen.getByLabelText('Select all that are loaded'));
  expect(screen.getByText('3 selected')).toBeTruthy();
  fireEvent.click(screen.getByRole('button', { name: 'Cancel 2' }));
  const dialog = await screen.findByRole('dialog');
  expect(dialog.textContent).toContain('Cancel 2 tasks?');
  expect(dialog.textContent).toContain('1 selected task is left');
  expect(posts(asked)).toEqual([]);
  fireEvent.click(within(dialog).getByRole('button', { name: 'Cancel 2 tasks' }));
  await waitFor(() => expect(posts(asked)).toEqual([['/tasks/cancel', { tasks: [1, 2] }]]));
});

test('a refusal is a sentence beside the list until it is closed, and its task can be pressed again', async () => {
  refusals.set(1, 'Task 1 has just ended.');
  begin();
  await screen.findByText('task-1');
  fireEvent.click(screen.getByLabelText('Select task-1'));
  fireEvent.click(screen.getByRole('button', { name: /^Hold/ }));
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain('Task 1 has just ended.');
  expect(screen.getByRole('button', { name: 'Actions for task-1' })).toBeTruthy();
  fireEvent.click(within(alert).getByRole('button', { name: 'Close this message' }));
  expect(screen.queryByRole('alert')).toBeNull();
});

test('a menu is locked from the wish until the yard shows the change', async () => {
  const { say } = begin();
  await screen.findByText('task-1');
  fireEvent.click(screen.getByLabelText('Select task-1'));
  fireEvent.click(screen.getByRole('button', { name: /^Hold/ }));
  expect(await screen.findByLabelText('task-1: being put on hold')).toBeTruthy();
  tasks = tasks.map((each) => (each.id === 1 ? { ...each, held: true } : each));
  say('queue', { waiting: 0, held: 2, paused: false });
  await waitFor(() => expect(screen.queryByLabelText('task-1: being put on hold')).toBeNull());
  expect(screen.getByRole('button', { name: 'Actions for task-1' })).toBeTruthy();
});

test('what was asked for on the page of a task locks it here, and is not asked for twice', async () => {
  const { asked } = begin();
  await screen.findByText('task-1');
  act(() => beginAct(tasks[0]!, 'cancel'));
  expect(screen.getByLabelText('task-1: being cancelled')).toBeTruthy();
  fireEvent.click(screen.getByLabelText('Select all that are loaded'));
  fireEvent.click(screen.getByRole('button', { name: 'Cancel 2' }));
  const dialog = await screen.findByRole('dialog');
  expect(dialog.textContent).toContain('2 selected tasks are left');
  fireEvent.click(within(dialog).getByRole('button', { name: 'Cancel 1 task' }));
  await waitFor(() => expect(posts(asked)).toEqual([['/tasks/cancel', { tasks: [2] }]]));
});

test('arrows go from row to row, Space selects and Enter opens', async () => {
  const { location } = begin();
  await screen.findByText('task-1');
  const rows = () => [...document.querySelectorAll<HTMLElement>('[data-row]')];
  expect(rows().map(({ tabIndex }) => tabIndex)).toEqual([0, -1, -1]);
  rows()[0]!.focus();
  fireEvent.keyDown(rows()[0]!, { key: 'ArrowDown' });
  expect(document.activeElement).toBe(rows()[1]);
  fireEvent.keyDown(document.activeElement!, { key: ' ' });
  expect(rows()[1]!.getAttribute('aria-selected')).toBe('true');
  fireEvent.keyDown(document.activeElement!, { key: 'Enter', keyCode: 229 }); // ends a composition
  expect(location.history.at(-1)).toBe('/tasks');
  fireEvent.keyDown(document.activeElement!, { key: 'Enter' });
  expect(location.history.at(-1)).toBe('/tasks/2');
});

test('a yard that does not answer is said, with a way to try again', async () => {
  fakeYard({});
  renderInYard(<TasksPage />, '/tasks');
  expect((await screen.findByRole('alert')).textContent).toContain('no route');
  expect(screen.getByRole('button', { name: 'Try again' })).toBeTruthy();
});
