// Calls to the yard, typed by api/openapi.yaml. A refusal is thrown as ApiProblem, whose `detail` is a sentence for people.
import createClient from 'openapi-fetch';
import type { components, paths } from '@gen/api';
import type { Language } from './format';

export type Schemas = components['schemas'];
export type Problem = Schemas['Problem'];
export type Task = Schemas['Task'];
export type TaskDetail = Schemas['TaskDetail'];
export type Attempt = Schemas['Attempt'];
export type Device = Schemas['Device'];
export type YardStatus = Schemas['YardStatus'];

export class ApiProblem extends Error {
  constructor(
    readonly status: number,
    readonly problem: Problem | null,
    detail: string,
  ) {
    super(detail);
  }
  /** The field the problem names, as "/resources/gpus"; empty when it names none. */
  get field(): string {
    return this.problem?.field ?? '';
  }
}

let language: Language = 'en';
let onStranger = () => {};
/** The language that sentences come in from now on. */
export function setApiLanguage(next: Language) {
  language = next;
}
/** Called whenever the yard says that this browser is not signed in. */
export function whenStranger(act: () => void) {
  onStranger = act;
}

const kLimit = 30_000; // ms until an answer begins; one that was asked to wait may take that much longer
const kPool = 6; // connections that a browser keeps to one place
const kProbe = 2000;
const underWay = new Set<AbortController>();
const kDead = new DOMException('There was no answer.', 'TimeoutError');

/** fetch() that does not wait for ever: connections that slept, or whose tunnel went away, look open and carry nothing. */
async function reach(request: Request): Promise<Response> {
  const again = request.method === 'GET'; // an act may have been done though its answer never came
  for (let tries = again ? 3 : 1; ; tries--) {
    const control = new AbortController();
    const giveUp = () => control.abort(request.signal.reason);
    request.signal.addEventListener('abort', giveUp);
    if (request.signal.aborted) giveUp();
    const wait = 1000 * Number(new URL(request.url).searchParams.get('wait') ?? 0);
    const timer = setTimeout(() => {
      control.abort(kDead);
      renewConnections();
    }, kLimit + wait);
    if (again) underWay.add(control);
    try {
      // Looked up at each call, so that tests may put theirs in its place.
      return await globalThis.fetch(again ? request.clone() : request, { signal: control.signal });
    } catch (error) {
      if (control.signal.reason !== kDead || tries <= 1) throw error;
    } finally {
      clearTimeout(timer);
      underWay.delete(control);
      request.signal.removeEventListener('abort', giveUp);
    }
  }
}

let renewing = false;
/** The line was dead: what is asked is asked anew, and the browser is made to let go of connections that died with it. */
export function renewConnections() {
  if (renewing) return;
  renewing = true;
  // It takes an old connection for a new question as long as it has one: as many questions as it keeps
  // connections find them all, if none waits for another's answer in the browser's own store.
  const probes = Array.from({ length: kPool }, () => {
    const control = new AbortController();
    const timer = setTimeout(() => control.abort(), kProbe);
    return globalThis
      .fetch(new Request(`${baseUrl()}api/v1/session`, { cache: 'no-store' }), { signal: control.signal })
      .then((response) => response.arrayBuffer())
      .catch(() => null)
      .finally(() => clearTimeout(timer));
  });
  void Promise.all(probes).then(() => (renewing = false));
  for (const control of [...underWay]) control.abort(kDead);
}

/** Where the page lives, with a slash at its end. */
export const baseUrl = () => new URL('./', document.baseURI).href;

export const client = createClient<paths>({
  baseUrl: baseUrl().replace(/\/$/, ''),
  fetch: (request: Request) => reach(request),
});
client.use({
  onRequest({ request }) {
    request.headers.set('Accept-Language', language === 'zh' ? 'zh-CN' : 'en');
    return request;
  },
});

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The body of an answer, or throws what was wrong: `await answer(client.GET('/api/v1/status'))`. */
export async function answer<T>(call: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await call;
  if (response.ok) return data as T;
  throw refusal(response.status, error);
}

/** Makes the refusal of a status and a parsed body. */
export function refusal(status: number, body: unknown): ApiProblem {
  if (status === 401) onStranger();
  const problem = typeof body === 'object' && body !== null && 'detail' in body ? (body as Problem) : null;
  return new ApiProblem(status, problem, problem?.detail ?? `HTTP ${status}`);
}

/** Bytes of a route that openapi-fetch has no types for: path below /api/v1 with its query. */
export async function getBytes(path: string, query: Record<string, string | number | undefined>, signal?: AbortSignal) {
  const url = new URL(`api/v1/${path}`, baseUrl());
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  const init: RequestInit = { headers: { 'Accept-Language': language === 'zh' ? 'zh-CN' : 'en' } };
  if (signal) init.signal = signal;
  const response = await reach(new Request(url, init));
  if (response.ok) return new Uint8Array(await response.arrayBuffer());
  throw refusal(response.status, await response.json().catch(() => null));
}

/** What to show of anything thrown by a call. */
export const detailOf = (error: unknown, unreachable: string) => (error instanceof ApiProblem ? error.message : unreachable);
