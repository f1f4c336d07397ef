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

/** Where the page lives, with a slash at its end. */
export const baseUrl = () => new URL('./', document.baseURI).href;

export const client = createClient<paths>({
  baseUrl: baseUrl().replace(/\/$/, ''),
  // Looked up at each call, so that tests may put theirs in its place.
  fetch: (request: Request) => globalThis.fetch(request),
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
  const response = await fetch(url, init);
  if (response.ok) return new Uint8Array(await response.arrayBuffer());
  throw refusal(response.status, await response.json().catch(() => null));
}

/** What to show of anything thrown by a call. */
export const detailOf = (error: unknown, unreachable: string) => (error instanceof ApiProblem ? error.message : unreachable);
