import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Live } from './live';
import { LiveProvider, useLiveQuery } from './useLive';

class FakeSocket {
  readyState = 1;
  sent: Record<string, unknown>[] = [];
  onmessage: ((event: MessageEvent) => void) | null = null;
  onclose: (() => void) | null = null;
  send(text: string) {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }
  close() {}
  say(frame: object) {
    this.onmessage?.({ data: JSON.stringify(frame) } as MessageEvent);
  }
}

let socket: FakeSocket;
let live: Live;
let queries: QueryClient;
let answers: string[];
beforeEach(() => {
  vi.stubGlobal('WebSocket', { OPEN: 1 });
  socket = new FakeSocket();
  queries = new QueryClient();
  live = new Live({ url: () => 'ws://yard', poll: () => new Promise(() => {}), socket: () => socket as unknown as WebSocket });
  live.start();
  socket.say({ hello: { instance: 'a', version: '1', seq: 1, now: new Date().toISOString() } });
});
afterEach(() => {
  cleanup();
  live.stop();
  vi.unstubAllGlobals();
});

function Device() {
  const { data } = useLiveQuery('devices', { queryKey: ['devices'], queryFn: () => Promise.resolve({ state: answers.shift() ?? 'none' }), staleTime: Infinity });
  return <p>{data?.state}</p>;
}
const show = () =>
  render(
    <QueryClientProvider client={queries}>
      <LiveProvider value={live}>
        <Device />
      </LiveProvider>
    </QueryClientProvider>,
  );

test('a topic replaces what the first call brought', async () => {
  answers = ['free'];
  show();
  await screen.findByText('free');
  act(() => socket.say({ topic: 'devices', seq: 2, value: { state: 'leased' } }));
  await screen.findByText('leased');
});

test('what a call brought and the yard undid before the stream looked again does not stay', async () => {
  answers = ['free', 'held'];
  show();
  await screen.findByText('free');
  act(() => socket.say({ topic: 'devices', seq: 2, value: { state: 'free' } }));
  await act(() => queries.invalidateQueries({ queryKey: ['devices'] }));
  await screen.findByText('held');
  // It was released meanwhile: for the stream nothing has changed, so it must be asked.
  expect(socket.sent.slice(-2)).toEqual([{ unsub: ['devices'] }, { sub: ['devices'] }]);
  act(() => socket.say({ topic: 'devices', seq: 3, value: { state: 'free' } }));
  await screen.findByText('free');
});

test('a call that brings the same as the topic asks nothing', async () => {
  answers = ['free', 'free'];
  show();
  await screen.findByText('free');
  act(() => socket.say({ topic: 'devices', seq: 2, value: { state: 'free' } }));
  const before = socket.sent.length;
  await act(() => queries.invalidateQueries({ queryKey: ['devices'] }));
  expect(socket.sent.length).toBe(before);
});
