// A yard of the test's own, driven through the real program under a bare environment, and a browser to look at it.
import { spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { existsSync, mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, connect, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Locator, type Page } from 'playwright-core';

const root = fileURLToPath(new URL('../../', import.meta.url));
export const program = process.env.TRAINYARD_BIN ?? join(root, 'build/release/bin/trainyard');
const deadline = 60_000; // of anything that is waited for; nothing is timed

export type Words = Record<string, string>;
export const words: Record<'en' | 'zh', Words> = {
  en: JSON.parse(readFileSync(join(root, 'messages/web/en.json'), 'utf8')) as Words,
  zh: JSON.parse(readFileSync(join(root, 'messages/web/zh-CN.json'), 'utf8')) as Words,
};

export class Yard {
  readonly folder: string;
  home: string;
  readonly work: string;
  env: Record<string, string>;
  private listen = '127.0.0.1:0';

  constructor(options: { home?: string; env?: Record<string, string> } = {}) {
    this.folder = mkdtempSync(join(tmpdir(), 'ty-page-'));
    this.home = options.home ?? join(this.folder, 'state');
    this.work = join(this.folder, 'work');
    mkdirSync(this.work);
    this.env = { HOME: this.folder, PATH: '/usr/bin:/bin', TMPDIR: this.folder, TRAINYARD_HOME: this.home, ...options.env };
  }

  /** The program, to its end; `code` is what it must exit with (null: whatever). */
  run(args: string[], code: number | null = 0): string {
    const done: SpawnSyncReturns<string> = spawnSync(program, args, { cwd: this.work, env: this.env, encoding: 'utf8', timeout: deadline * 5, stdio: ['ignore', 'pipe', 'pipe'] });
    if (code !== null && done.status !== code) throw new Error(`trainyard ${args.join(' ')} ended with ${done.status}: ${done.stdout}${done.stderr}`);
    return done.stdout;
  }
  json<T = Record<string, unknown>>(...args: string[]): T {
    return JSON.parse(this.run([...args, '--json'])) as T;
  }
  /** The first time on any free port, from then on on that one. */
  up(...args: string[]) {
    this.run(['up', '--listen', this.listen, ...args]);
    this.listen = new URL(this.url).host;
  }
  get url(): string {
    return this.json<{ url: string }>('status').url;
  }
  /** A link that signs one browser in. */
  link(): string {
    return this.json<{ link: string }>('open').link;
  }
  submit(...args: string[]): number {
    return Number(this.run(['run', '-q', ...args]).trim());
  }
  task(id: number) {
    return this.json<{ state: string; outcome: { kind: string } | null; attempts: unknown[]; priority: number }>('show', String(id));
  }
  /** kill -9 of the daemon; it is gone when this comes back. */
  kill() {
    const { pid } = this.json<{ pid: number }>('status');
    process.kill(pid, 'SIGKILL');
    while (existsSync(`/proc/${pid}/exe`)) spawnSync('sleep', ['0.02']);
  }
  /** Nothing runs, nothing waits, nothing is paused, and nothing tells of what was before. */
  async clear() {
    const all = () => this.json<{ items: { id: number; state: string }[] }>('ls', '--all').items;
    this.run(['cancel', '--all'], null);
    this.run(['resume']);
    await until(() => all().every((task) => task.state === 'ended'), 'everything ends');
    const ended = all().map((task) => String(task.id));
    if (ended.length > 0) this.run(['rm', ...ended]);
  }
  leave() {
    spawnSync(program, ['down', '--cancel'], { env: this.env, timeout: deadline });
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The demo's trainings, run to their end in a yard that stays. */
export function demoYard(tries = 2): Yard {
  const yard = new Yard();
  const adopt = (said: string) => {
    // Its folder lies in TMPDIR, which is ours.
    const found = readdirSync(yard.folder).map((name) => join(yard.folder, name)).find((folder) => existsSync(join(folder, 'sock')));
    yard.home = /TRAINYARD_HOME=(\S+)/.exec(said)?.[1] ?? found ?? yard.home;
    yard.env.TRAINYARD_HOME = yard.home;
  };
  try {
    adopt(yard.run(['demo', '--no-open', '--report', join(yard.folder, 'report.json')]));
    return yard;
  } catch (error) {
    // It measures that a training is faster alone than in turns, which a machine busy with other things may spoil.
    adopt(String(error));
    yard.leave();
    if (tries <= 1) throw error;
    return demoYard(tries - 1);
  }
}

export async function openBrowser(): Promise<Browser> {
  const at = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
  if (!at) throw new Error('There is no Chromium here: script/setup --tests installs it.');
  // With scroll bars, which people have and which take room.
  return chromium.launch({ executablePath: at, ignoreDefaultArgs: ['--hide-scrollbars'], args: ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none', '--force-color-profile=srgb'] });
}

/** What a page must never do; asked at the end of each test. */
export class Watcher {
  readonly faults: string[] = [];
  readonly expected: RegExp[];
  constructor(expected: RegExp[] = []) {
    this.expected = expected;
  }
  watch(page: Page) {
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.note(`${message.text()} ${message.location().url}`);
    });
    page.on('pageerror', (error) => this.note(`thrown: ${error.message}`));
    page.on('dialog', (dialog) => {
      this.note(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  }
  private note(what: string) {
    if (!this.expected.some((pattern) => pattern.test(what))) this.faults.push(what);
  }
}

export interface Visit {
  page: Page;
  context: BrowserContext;
  watcher: Watcher;
}

/** A browser of its own, signed in at `place`. */
export async function visit(browser: Browser, yard: Yard, options: { language?: 'en' | 'zh'; dark?: boolean; phone?: boolean; place?: string; origin?: string; expected?: RegExp[] } = {}): Promise<Visit> {
  const about: BrowserContextOptions = {
    viewport: options.phone ? { width: 390, height: 844 } : { width: 1440, height: 900 },
    locale: options.language === 'zh' ? 'zh-CN' : 'en-US',
    colorScheme: options.dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    ...(options.phone ? { hasTouch: true, isMobile: true, deviceScaleFactor: 2 } : {}),
  };
  const context = await browser.newContext(about);
  context.setDefaultTimeout(deadline);
  const page = await context.newPage();
  const watcher = new Watcher(options.expected);
  watcher.watch(page);
  const link = new URL(yard.link());
  const origin = options.origin ?? link.origin;
  await page.goto(`${origin}${options.place ?? '/'}${link.hash}`);
  await live(page);
  return { page, context, watcher };
}

/** Waits until the page says that it is live. */
export const live = (page: Page) => page.locator('[role="status"][data-line="live"]').waitFor();
/** A page of which that is not so. */
export const notLive = (page: Page) => page.locator('[role="status"][data-line]:not([data-line="live"])');

/** Waits until `look` finds something true. */
export async function until<T>(look: () => T | Promise<T>, what: string): Promise<NonNullable<T>> {
  const end = Date.now() + deadline;
  for (;;) {
    const found = await look();
    if (found) return found as NonNullable<T>;
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Bytes through another port, as `ssh -L` does. `forget`: what is connected stays so and carries nothing any more, as after a sleep. */
export async function tunnel(to: number): Promise<{ port: number; server: Server; forget: () => void }> {
  const open: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    near.pipe(far).pipe(near);
    open.push(near, far);
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const forget = () => {
    for (const end of open.splice(0)) end.unpipe().pause();
  };
  return { port: (server.address() as { port: number }).port, server, forget };
}

/** Waits until it stands still: what comes later above it has come. */
export async function settled(what: Locator): Promise<void> {
  await what.page().waitForLoadState('networkidle');
  let before = '';
  await until(async () => {
    const now = JSON.stringify(await what.boundingBox());
    const same = now === before;
    before = now;
    return same;
  }, 'it stands still');
}

const axe = readFileSync(join(root, 'web/node_modules/axe-core/axe.min.js'), 'utf8');

/** What axe-core finds wrong with the page as it is. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // Evaluated by the debugger, which the page's policy does not bind.
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const found = await (globalThis as unknown as { axe: { run: (context: Document, options: object) => Promise<{ violations: { id: string; nodes: { target: unknown; failureSummary?: string }[] }[] }> } }).axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'],
    });
    return found.violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${String(node.target)} ${node.failureSummary ?? ''}`));
  });
}

/** Whether something is wider than the window. */
export const overflows = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

export { spawn };
