import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Live } from '@/lib/live';
import { LiveProvider } from '@/lib/useLive';
import { WordsProvider } from '@/lib/words';
import catalogue from '@gen/en.json';
import { NewTaskPage } from './NewTaskPage';

const message = (text: string) => ({ id: 'a.b', args: {}, text });
const newest = {
  id: 12,
  name: 'sft',
  state: 'running',
  held: false,
  frozen: false,
  outcome: null,
  spec: { command: ['python', 'train.py'], workdir: '/home/ann/run', environment: { variables: { PATH: '/bin', WANDB_API_KEY: '***' } }, variables: { HF_TOKEN: '***', LR: '0.1' }, resources: { gpus: '2' }, limits: { idle: 600 } },
};
const plan = { name: 'train', starts_now: true, summary: { devices: message('1 process, sees GPU0'), environment: null, starts: null, retry: null, survival: null } };

interface Call {
  path: string;
  body: Record<string, unknown>;
  key: string | null;
  signal: AbortSignal;
}
let calls: Call[] = [];
let gone = new Set<string>();
let answers: Record<string, (call: Call) => Response | Promise<Response>> = {};
const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status, headers: { 'Content-Type': status < 400 ? 'application/json' : 'application/problem+json' } });
const fault = (detail: string, field: string) => ({ type: 'about:blank', title: '', status: 422, detail, code: 'invalid', message: message(detail), field });
const problem = (detail: string, field: string) => json(fault(detail, field), 422);
/** Everything that is wrong at once: the first at the top, all of them below. */
const problems = (...faults: [detail: string, field: string][]) => json({ ...fault(...faults[0]!), errors: faults.map((one) => fault(...one)) }, 422);
const previews = () => calls.filter(({ path }) => path === '/tasks/preview');
const submits = () => calls.filter(({ path }) => path === '/tasks');

beforeEach(() => {
  calls = [];
  gone = new Set();
  answers = {};
  localStorage.clear();
  // The area that grows with its text wants to know when fonts have come.
  Object.defineProperty(document, 'fonts', { value: new EventTarget(), configurable: true });
  history.replaceState(null, '', '/new');
  vi.stubGlobal('fetch', async (request: Request) => {
    const path = new URL(request.url).pathname.replace('/api/v1', '');
    if (gone.has(path)) return json(fault('There is no such task.', ''), 404);
    if (request.method === 'GET') return path.startsWith('/tasks/') ? json(newest) : json({ items: [newest], next: null });
    const call: Call = { path, body: (await request.json()) as Record<string, unknown>, key: request.headers.get('Idempotency-Key'), signal: request.signal };
    calls.push(call);
    return answers[path]?.(call) ?? json(path === '/tasks' ? { id: 13 } : plan, path === '/tasks' ? 201 : 200);
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function open(address = '/new', state: unknown = null) {
  history.replaceState(state, '', address);
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const live = new Live({ url: () => 'ws://x', poll: () => Promise.reject(new Error('off')) });
  render(
    <MantineProvider env="test">
      <WordsProvider first="en" catalogue={catalogue}>
        <QueryClientProvider client={queries}>
          <LiveProvider value={live}>
            <NewTaskPage />
          </LiveProvider>
        </QueryClientProvider>
      </WordsProvider>
    </MantineProvider>,
  );
  await screen.findByLabelText('Command');
}
const field = (label: string | RegExp) => screen.getByLabelText<HTMLInputElement>(label);
const type = (label: string | RegExp, value: string) => fireEvent.change(field(label), { target: { value } });
const send = () => fireEvent.click(screen.getByRole('button', { name: /Queue task/ }));

describe('the new-task page', () => {
  it('begins in the folder and the shell of the newest task, and with no command', async () => {
    await open();
    expect(field('Folder').value).toBe('/home/ann/run');
    expect(field('Environment').value).toBe('12');
    expect(field('Command').value).toBe('');
    expect(previews()).toHaveLength(0);
    expect(await screen.findByText(/less those that look secret: WANDB_API_KEY/)).toBeTruthy();
  });

  it('asks what would come of it once typing rests, and shows that', async () => {
    await open();
    for (const text of ['p', 'py', 'python a.py']) type('Command', text);
    await screen.findByText('1 process, sees GPU0');
    expect(previews().map(({ body }) => body)).toEqual([{ command: ['python', 'a.py'], workdir: '/home/ann/run', environment: { variables: { PATH: '/bin' } } }]);
    expect(screen.getByLabelText('The same from a terminal').textContent).toBe('trainyard run --workdir /home/ann/run -- python a.py');
  });

  it('says in words of the page what the yard says to a terminal', async () => {
    const line = (id: string, args = {}) => ({ id, args, text: 'words for a terminal' });
    answers['/tasks/preview'] = () => json({ ...plan, summary: { devices: line('receipt.wants', { count: '2' }), environment: line('receipt.own_shell'), starts: null, retry: line('receipt.retry_of_tomorrow'), survival: line('receipt.survives_reboot') } });
    await open();
    type('Command', 'a');
    await screen.findByText('1 process, needs 2 devices');
    expect(screen.getByText(/You can close this page/)).toBeTruthy();
    expect(screen.getByText(/the shell chosen under/)).toBeTruthy();
    expect(screen.getAllByText('words for a terminal')).toHaveLength(1);
  });

  it('gives up the older question for the newer', async () => {
    let first: Call | undefined;
    answers['/tasks/preview'] = (call) => {
      if (first) return json(plan);
      first = call;
      return new Promise(() => {});
    };
    await open();
    type('Command', 'a');
    await waitFor(() => expect(first).toBeTruthy());
    type('Command', 'ab');
    await screen.findByText('1 process, sees GPU0');
    expect(first!.signal.aborted).toBe(true);
  });

  it('says why a line goes through a shell', async () => {
    await open();
    type('Command', 'a | b');
    await screen.findByText(/Runs through sh -c, because it has a pipe/);
    await waitFor(() => expect(previews().at(-1)?.body.command).toEqual(['sh', '-c', 'a | b']));
  });

  it('puts a refusal at its field, and opens "More" to focus it on submit', async () => {
    answers['/tasks/preview'] = ({ body }) => ((body.limits as { time?: string } | undefined)?.time ? problem('This is no time.', '/limits/time') : json(plan));
    await open();
    fireEvent.click(screen.getByRole('button', { name: /More/ }));
    type('Command', 'a');
    type(/Time limit/, 'long');
    await screen.findByText('This is no time.');
    expect(field(/Time limit/).getAttribute('aria-invalid')).toBe('true');
    const told = field(/Time limit/).getAttribute('aria-describedby')!.split(' ').map((id) => document.getElementById(id)?.textContent ?? id);
    expect(told).toContain('This is no time.');
    fireEvent.click(screen.getByRole('button', { name: /More/ }));
    answers['/tasks'] = () => problem('This is no time.', '/limits/time');
    send();
    await waitFor(() => expect(document.activeElement?.id).toBe('new-task-time'));
  });

  it('asks for a command only when one wants to send', async () => {
    await open();
    expect(screen.queryByText(/Type the command that starts/)).toBe(null);
    send();
    await screen.findByText(/Type the command that starts/);
    expect(document.activeElement).toBe(field('Command'));
    expect(submits()).toHaveLength(0);
  });

  it('queues it with a key, forgets the draft and goes to the task', async () => {
    await open();
    type('Command', 'a');
    await waitFor(() => expect(localStorage.getItem('trainyard.draft')).toContain('"command":"a"'));
    send();
    await waitFor(() => expect(location.pathname).toBe('/tasks/13'));
    expect(submits()).toHaveLength(1);
    expect(submits()[0]!.key!.length).toBeGreaterThanOrEqual(32);
    cleanup(); // leaving keeps nothing either
    expect(localStorage.getItem('trainyard.draft')).toBe(null);
  });

  it('sends the same again under the same key when the answer was lost, and something else under another', async () => {
    answers['/tasks'] = () => Promise.reject(new TypeError('lost'));
    await open();
    type('Command', 'a');
    fireEvent.click(screen.getByRole('button', { name: /More/ }));
    type(/Not before/, '+30m');
    send();
    await screen.findByText(/The yard cannot be reached/);
    send();
    await waitFor(() => expect(submits()).toHaveLength(2));
    expect(submits()[1]!.key).toBe(submits()[0]!.key);
    expect(submits()[1]!.body).toEqual(submits()[0]!.body);
    await waitFor(() => expect(screen.getByRole('button', { name: /Queue task/ }).hasAttribute('data-loading')).toBe(false));
    type('Command', 'b');
    send();
    await waitFor(() => expect(submits()).toHaveLength(3));
    expect(submits()[2]!.key).not.toBe(submits()[0]!.key);
  });

  it('sends on Ctrl+Enter, not on Enter, and not in the middle of composing', async () => {
    await open();
    type('Command', 'a');
    fireEvent.keyDown(field('Folder'), { key: 'Enter' });
    fireEvent.keyDown(field('Command'), { key: 'Enter', ctrlKey: true, isComposing: true });
    fireEvent.keyDown(field('Command'), { key: 'Enter', ctrlKey: true, keyCode: 229 });
    await act(() => new Promise((resolve) => setTimeout(resolve, 20)));
    expect(submits()).toHaveLength(0);
    fireEvent.keyDown(field('Command'), { key: 'Enter', ctrlKey: true });
    await waitFor(() => expect(submits()).toHaveLength(1));
  });

  it('clones a task: fields filled, secrets wanted again, what has no field kept', async () => {
    await open('/new?like=12');
    expect(field('Command').value).toBe('python train.py');
    expect(field('Devices').value).toBe('2');
    expect(screen.getByText(/type them again or remove them: HF_TOKEN/)).toBeTruthy();
    expect(screen.getByText('limits.idle 600')).toBeTruthy();
    send();
    await screen.findByText('Type the value of HF_TOKEN again, or remove it.');
    expect(submits()).toHaveLength(0);
    const secret = field('Value of variable 1');
    expect(secret.type).toBe('password');
    type('Value of variable 1', 'hf_new');
    send();
    await waitFor(() => expect(submits()).toHaveLength(1));
    expect(submits()[0]!.body).toMatchObject({ variables: { HF_TOKEN: 'hf_new', LR: '0.1' }, limits: { idle: 600 }, resources: { gpus: 2 } });
  });

  it('marks what differs from the task it came from, and puts it back', async () => {
    await open('/new?like=12');
    type('Devices', '4');
    const back = screen.getByRole('button', { name: 'Devices: back to what it was' });
    fireEvent.click(back);
    expect(field('Devices').value).toBe('2');
    expect(screen.queryByRole('button', { name: 'Devices: back to what it was' })).toBe(null);
  });

  it('keeps what was typed over a reload, and "More" open when it was used', async () => {
    await open();
    type('Command', ' a  b');
    fireEvent.click(screen.getByRole('button', { name: /More/ }));
    type(/Tags/, 'x');
    await waitFor(() => expect(localStorage.getItem('trainyard.draft')).toContain('"tags":"x"'));
    cleanup();
    await open();
    expect(field('Command').value).toBe(' a  b');
    expect(field(/Tags/).value).toBe('x');
  });

  it('keeps what was typed by somebody who leaves at once, though there is no command yet', async () => {
    await open();
    type('Folder', '/data/run');
    type('Devices', '4');
    cleanup();
    await open();
    expect(field('Folder').value).toBe('/data/run');
    expect(field('Devices').value).toBe('4');
    type('Command', 'a');
    cleanup();
    await open();
    expect(field('Command').value).toBe('a');
  });

  it('keeps what was typed when the tab goes', async () => {
    await open();
    type('Command', 'a');
    window.dispatchEvent(new Event('pagehide'));
    expect(localStorage.getItem('trainyard.draft')).toContain('"command":"a"');
  });

  it('stays cleared when it was cleared, and keeps nothing when it is as it began', async () => {
    await open();
    type('Command', 'a');
    type('Folder', '');
    type('Command', '');
    cleanup();
    await open();
    expect([field('Command').value, field('Folder').value]).toEqual(['', '']);
    type('Folder', '/home/ann/run');
    cleanup();
    expect(localStorage.getItem('trainyard.draft')).toBe(null);
  });

  it('keeps what was written in a copy over a reload, with the values it knows; a new copy is the task', async () => {
    await open('/new?like=12');
    type('Devices', '4');
    cleanup();
    await open('/new?like=12', history.state);
    expect(field('Devices').value).toBe('4');
    expect(field('Value of variable 2').value).toBe('0.1');
    expect(screen.getByRole('button', { name: 'Devices: back to what it was' })).toBeTruthy();
    cleanup();
    await open('/new?like=12');
    expect(field('Devices').value).toBe('2');
  });

  it('marks every field that the yard finds wrong, and what the page found itself; the first gets the focus', async () => {
    const wrong = () => problems(['No such device count.', '/resources/gpus'], ['This is no name.', '/name'], ['This is no time.', '/limits/time'], ['The disk is full.', ''], ['Idle is no time.', '/limits/idle']);
    answers['/tasks/preview'] = wrong;
    answers['/tasks'] = wrong;
    await open();
    fireEvent.click(screen.getByRole('button', { name: /More/ }));
    type(/Not before/, 'soon');
    type('Command', 'a');
    const marked = () => ['Command', 'Devices', /^Name/, /Time limit/, /Not before/].map((label) => field(label).getAttribute('aria-invalid') === 'true');
    await waitFor(() => expect(marked()).toEqual([false, true, true, true, true]));
    expect(previews().at(-1)!.body).not.toHaveProperty('begin');
    const plan = screen.getByRole('complementary', { name: 'What will happen' });
    // What belongs to no field that is shown stands above the button.
    expect(plan.textContent).toContain('The disk is full.\nIdle is no time.');
    send();
    await waitFor(() => expect(document.activeElement).toBe(field('Devices')));
    type(/Not before/, '');
    send();
    await waitFor(() => expect(submits()).toHaveLength(1));
    await waitFor(() => expect(document.activeElement).toBe(field('Devices')));
  });

  it('puts a folder and a program that are not there at their fields', async () => {
    answers['/tasks/preview'] = () => problems(['There is no folder /no.', '/workdir'], ['There is no program pyhton.', '/command']);
    await open();
    type('Folder', '/no');
    type('Command', 'pyhton a.py');
    await screen.findByText('There is no folder /no.');
    expect(screen.getByText('There is no program pyhton.')).toBeTruthy();
    expect([field('Command'), field('Folder'), field('Devices')].map((input) => input.getAttribute('aria-invalid') === 'true')).toEqual([true, true, false]);
  });

  it('says so when the task whose shell it wants is gone', async () => {
    localStorage.setItem('trainyard.draft', JSON.stringify({ command: 'a', folder: '/x', environmentOf: 7 }));
    gone.add('/tasks/7');
    await open();
    await screen.findByText(/Task 7 is gone/);
    send();
    await waitFor(() => expect(document.activeElement).toBe(field('Environment')));
    expect(submits()).toHaveLength(0);
  });

  it('adds a task to wait for by its number', async () => {
    await open();
    fireEvent.click(screen.getByRole('button', { name: /More/ }));
    type('Command', 'a');
    const find = screen.getByRole('combobox', { name: 'After other tasks' });
    fireEvent.change(find, { target: { value: '#12' } });
    fireEvent.keyDown(find, { key: 'Enter' });
    const how = await screen.findByLabelText(/How #12 .* has to end/);
    fireEvent.change(how, { target: { value: 'any' } });
    await waitFor(() => expect(previews().at(-1)?.body.after).toEqual([{ task: 12, on: 'any' }]));
  });

  it('shows hostile names as text', async () => {
    await open();
    type('Command', `<img src=x onerror=alert(1)>'`);
    await screen.findByText(/single quote/);
    const plan = screen.getByRole('complementary', { name: 'What will happen' });
    expect(within(plan).getByText(/marked field/)).toBeTruthy();
    expect(document.querySelector('img')).toBe(null);
  });
});
