import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { answer, client, getBytes, renewConnections } from './api';

/** Calls that hang until they are let go, as on a connection that died in its sleep; `alive` answers them. */
let calls: { path: string; signal: AbortSignal }[] = [];
let alive = false;

beforeEach(() => {
  vi.useFakeTimers();
  [calls, alive] = [[], false];
  vi.stubGlobal('fetch', (request: Request, { signal }: { signal: AbortSignal }) => {
    calls.push({ path: new URL(request.url).pathname.replace(/^.*\/api\/v1/, ''), signal });
    if (alive) return Promise.resolve(new Response('{"counts":{}}', { headers: { 'Content-Type': 'application/json' } }));
    return new Promise((_, refuse) => signal.addEventListener('abort', () => refuse(signal.reason as Error)));
  });
});
afterEach(async () => {
  await vi.advanceTimersByTimeAsync(200_000);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});
const of = (path: string) => calls.filter((call) => call.path === path);
const status = () => answer(client.GET('/api/v1/status'));

test('a question that is not answered is asked again, and the browser is made to let go of its connections', async () => {
  const asked = status();
  await vi.advanceTimersByTimeAsync(25_000);
  expect(of('/status')).toHaveLength(1);
  alive = true;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await asked).toEqual({ counts: {} });
  expect(of('/status')).toHaveLength(2);
  expect(of('/session')).toHaveLength(6);
});

test('when the line is found dead what is under way is asked anew at once, after the connections were tried', async () => {
  const asked = status();
  await vi.advanceTimersByTimeAsync(10);
  alive = true;
  renewConnections();
  await vi.advanceTimersByTimeAsync(10);
  expect(await asked).toEqual({ counts: {} });
  expect(calls.map(({ path }) => path)).toEqual(['/status', ...Array.from({ length: 6 }, () => '/session'), '/status']);
});

test('a question nobody ever answers ends with an error; one that its asker takes back is not asked again', async () => {
  const refused = expect(status()).rejects.toThrow('There was no answer.');
  await vi.advanceTimersByTimeAsync(100_000);
  await refused;
  expect(of('/status')).toHaveLength(3);
  const control = new AbortController();
  const left = expect(getBytes('tasks/1/points', {}, control.signal)).rejects.toThrow();
  await vi.advanceTimersByTimeAsync(10);
  control.abort();
  await left;
  expect(of('/tasks/1/points')).toHaveLength(1);
});

test('an act is not done twice: it ends with an error after the same time', async () => {
  const refused = expect(answer(client.POST('/api/v1/queue/pause', { body: {} }))).rejects.toThrow('There was no answer.');
  await vi.advanceTimersByTimeAsync(10_000);
  renewConnections();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(of('/queue/pause')[0]!.signal.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(20_000);
  await refused;
  expect(of('/queue/pause')).toHaveLength(1);
});

test('a question that asks the yard to wait has as much longer', async () => {
  const asked = answer(client.GET('/api/v1/events', { params: { query: { since: 1, wait: 20 } } })).catch(() => null);
  await vi.advanceTimersByTimeAsync(45_000);
  expect(of('/events')).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(of('/events')).toHaveLength(2);
  alive = true;
  await vi.advanceTimersByTimeAsync(60_000);
  await asked;
});
