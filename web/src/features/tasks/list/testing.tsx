// For tests of this place: a yard of answers in place of fetch, a stream that says what a test says, and the page's providers.
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, render } from '@testing-library/react';
import type { ReactNode } from 'react';
import { vi } from 'vitest';
import { Router } from 'wouter';
import { memoryLocation } from 'wouter/memory-location';
import english from '@gen/en.json';
import type { Task } from '@/lib/api';
import type { Live, Topic } from '@/lib/live';
import { LiveProvider } from '@/lib/useLive';
import { WordsProvider } from '@/lib/words';

export function task(id: number, over: Partial<Task> = {}): Task {
  return {
    id, uid: `uid-${id}`, name: `task-${id}`, state: 'waiting', held: false, priority: 0, submitted_at: '2026-11-30T10:00:00.000Z', started_at: null, ended_at: null,
    devices: [], share: null,
    wants: { devices: '1', cores: 1, gpu_memory: 0 }, frozen: false, attempt: null, progress: null, time_left_s: null, metrics: {}, reason: null, outcome: null, tags: [], ...over,
  };
}
export const ended = (id: number, kind: 'succeeded' | 'failed', over: Partial<Task> = {}) =>
  task(id, { state: 'ended', ended_at: '2026-11-30T11:00:00.000Z', outcome: { kind, class: '', exit_code: 0, signal: null, failed_rank: null, core_dumped: false, core_file: null, reason: null, evidence: '' }, ...over });

export interface Asked {
  path: string;
  query: URLSearchParams;
  body: unknown;
}
/** Answers calls by method and path below /api/v1; what is thrown is refused with that detail. */
export function fakeYard(routes: Record<string, (asked: Asked) => unknown>) {
  const asked: (Asked & { method: string })[] = [];
  vi.stubGlobal('fetch', async (request: Request) => {
    const url = new URL(request.url);
    const path = url.pathname.replace(/^.*\/api\/v1/, '');
    const call = { method: request.method, path, query: url.searchParams, body: request.method === 'GET' ? null : await request.json() };
    asked.push(call);
    const route = routes[`${request.method} ${path}`];
    const headers = { 'Content-Type': 'application/json' };
    try {
      if (!route) throw new Error(`no route ${request.method} ${path}`);
      return new Response(JSON.stringify(route(call)), { headers });
    } catch (error) {
      return new Response(JSON.stringify({ status: 409, detail: (error as Error).message }), { status: 409, headers });
    }
  });
  return asked;
}

export function fakeLive() {
  const topics = new Map<string, Set<Topic>>();
  const state = { line: 'live' as const, heard: 0, ahead: 0 };
  const live = {
    subscribe(name: string, topic: Topic) {
      const here = topics.get(name) ?? new Set();
      topics.set(name, here.add(topic));
      return () => here.delete(topic);
    },
    onState: () => () => {},
    getState: () => state,
  } as unknown as Live;
  const say = (name: string, value: unknown) => act(() => topics.get(name)?.forEach((topic) => topic.onValue(value, 1)));
  return { live, say };
}

export function renderInYard(children: ReactNode, place = '/') {
  const { live, say } = fakeLive();
  const location = memoryLocation({ path: place, record: true });
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 30_000 } } });
  const shown = render(
    <MantineProvider env="test">
      <WordsProvider first="en" catalogue={english}>
        <QueryClientProvider client={queries}>
          <LiveProvider value={live}>
            <Router hook={location.hook} searchHook={location.searchHook}>
              {children}
            </Router>
          </LiveProvider>
        </QueryClientProvider>
      </WordsProvider>
    </MantineProvider>,
  );
  return { ...shown, say, location, queries };
}

/** happy-dom lays nothing out: rows need a height that they fit into. */
export function giveRoom(height = 600) {
  vi.spyOn(HTMLElement.prototype, 'offsetHeight', 'get').mockReturnValue(height);
  vi.spyOn(HTMLElement.prototype, 'offsetWidth', 'get').mockReturnValue(1000);
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(height);
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener() {}, removeEventListener() {}, addListener() {}, removeListener() {} }));
}
