// Figures of the page in a real browser, one JSON line each: what, measured, peer, goal. Called by bench/figures.py.
//
// An interaction is timed from the moment the browser got the key, click, turn of the wheel or letter to the second frame
// after it: the first of the two shows the answer, so this is up to one frame (17 ms) too long and never too short. Its
// peer is the same browser with a page that does nothing: what the machine alone takes at that moment.
import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openBrowser, until, visit, words, Yard } from './yard.ts';

const kWaiting = 5000;
const kLines = 800_000; // of 65 bytes: 52 MB
const en = words.en;

interface Timed {
  taken: number[]; // ms of each interaction since it was last emptied
  begun: number; // of the last key, by performance.now()
  seen: number; // when the device cards were drawn
}
type Watched = typeof globalThis & { timed: Timed };

const say = (what: string, measured: string, goal = '', peer = '') => console.log(JSON.stringify({ what, measured, peer, goal }));
const middle = (taken: number[]) => [...taken].sort((a, b) => a - b)[Math.floor(taken.length / 2)]!;
const spread = (taken: number[]) => `${middle(taken).toFixed(0)} ms (${Math.min(...taken).toFixed(0)}-${Math.max(...taken).toFixed(0)})`;

/** Runs in the page before anything of ours. */
function watch() {
  const timed: Timed = { taken: [], begun: 0, seen: 0 };
  (globalThis as Watched).timed = timed;
  const afterTwoFrames = (tell: (at: number) => void) => requestAnimationFrame(() => requestAnimationFrame(() => tell(performance.now())));
  for (const kind of ['keydown', 'pointerdown', 'click', 'wheel', 'input']) {
    addEventListener(
      kind,
      (event) => {
        if (kind === 'keydown') timed.begun = event.timeStamp;
        afterTwoFrames((at) => timed.taken.push(at - event.timeStamp));
      },
      { capture: true, passive: true },
    );
  }
  const cards = new MutationObserver(() => {
    if (document.querySelector('main h3')?.textContent !== 'cpu:0') return;
    cards.disconnect();
    afterTwoFrames((at) => (timed.seen = at));
  });
  cards.observe(document, { childList: true, subtree: true });
}

/** What a first visit brings over the line, by the names of what was loaded. */
async function firstLoad(page: Page) {
  const paths = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname));
  const files = ['/', ...new Set(paths.filter((path) => !path.includes('/api/')))];
  const bytes = async (encoding: string) => {
    let sum = 0;
    for (const file of files) {
      sum += await new Promise<number>((resolve, reject) => {
        get(new URL(file, page.url()), { headers: { 'accept-encoding': encoding } }, (answer) => {
          let length = 0;
          answer.on('data', (part: Buffer) => (length += part.length)).on('end', () => resolve(length));
        }).on('error', reject);
      });
    }
    return sum / 1024;
  };
  const [gz, br] = [await bytes('gzip'), await bytes('br')];
  say('page: first load of the overview', `${gz.toFixed(0)} kB gz, ${br.toFixed(0)} kB br, ${files.length} files`, '<= 350 kB gz');
}

/** From the navigation to the device cards, with nothing in the browser's cache, and again with all of it there. */
async function firstView(browser: Browser, signedIn: BrowserContext, url: string) {
  const cookies = await signedIn.cookies();
  const cold: number[] = [];
  const warm: number[] = [];
  for (let i = 0; i < 5; i++) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-US' });
    await context.addCookies(cookies);
    await context.addInitScript(watch);
    const page = await context.newPage();
    for (const times of [cold, warm]) {
      await page.goto(url);
      times.push((await (await page.waitForFunction(() => (globalThis as Watched).timed.seen)).jsonValue()) as number);
    }
    if (i === 0) await firstLoad(page);
    await context.close();
  }
  say('page: device cards drawn, cold cache', spread(cold));
  say('page: device cards drawn, warm cache', spread(warm));
}

const pause = (page: Page, ms = 50) => page.waitForTimeout(ms);
/** Does it, and says how long the page took over each of the interactions. */
async function series(page: Page, what: string, peer: string, act: () => Promise<void>) {
  say(what, await timesOf(page, act), '<= 200 ms', peer);
}
async function timesOf(page: Page, act: () => Promise<void>): Promise<string> {
  await pause(page, 500);
  await page.evaluate(() => void ((globalThis as Watched).timed.taken = []));
  await act();
  await pause(page, 300);
  const taken = await page.evaluate(() => (globalThis as Watched).timed.taken);
  return `worst ${Math.max(...taken).toFixed(0)} ms, median ${middle(taken).toFixed(0)} ms of ${taken.length}`;
}

/** The same interactions where nothing answers them. */
async function nothing(browser: Browser): Promise<string> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.addInitScript(watch);
  const page = await context.newPage();
  await page.goto('data:text/html,<body style="height:900000px">nothing');
  const times = await timesOf(page, async () => {
    await wheel(page, 700, 60);
    await press(page, 'a', 60);
  });
  await context.close();
  return `nothing: ${times}`;
}

async function press(page: Page, key: string, count: number) {
  for (let i = 0; i < count; i++) {
    await page.keyboard.press(key);
    await pause(page);
  }
}
async function wheel(page: Page, distance: number, count: number) {
  for (let i = 0; i < count; i++) {
    await page.mouse.wheel(0, distance);
    await pause(page, 30);
  }
}

async function manyWaiting(browser: Browser, yard: Yard) {
  const { page, context } = await visitTimed(browser, yard, '/');
  const queue = page.getByRole('grid', { name: en['overview.queue']! });
  await queue.getByRole('row').nth(5).waitFor();
  const peer = await nothing(browser);
  await page.bringToFront();
  const said = `page, ${kWaiting.toLocaleString('en')} waiting:`;
  await series(page, `${said} menu of a row`, peer, async () => {
    for (let i = 2; i < 12; i++) {
      await queue.getByRole('row').nth(2 + (i % 5)).getByRole('button').last().click();
      await page.getByRole('menuitem').first().waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('menu').waitFor({ state: 'hidden' });
    }
  });
  await queue.hover();
  await series(page, `${said} wheel over the queue`, peer, () => wheel(page, 700, 60));
  await wheel(page, -100_000, 2);
  await pause(page, 500);
  await queue.getByRole('row').nth(1).focus();
  await series(page, `${said} arrow and page keys`, peer, async () => {
    await press(page, 'ArrowDown', 40);
    await press(page, 'PageDown', 15);
    await press(page, 'End', 3);
    await press(page, 'ArrowUp', 10);
    await press(page, 'Home', 1);
  });
  await page.goto(new URL('/tasks', page.url()).href);
  await page.getByRole('grid').getByRole('row').nth(5).waitFor();
  await series(page, `${said} typing a name`, peer, async () => {
    await page.getByRole('searchbox', { name: en['tasks.filter_name']! }).click();
    await page.keyboard.type('sweep-07', { delay: 60 });
    await pause(page, 300);
    await press(page, 'Backspace', 8);
  });
  await memory(page, `${said} JavaScript heap`);
  await context.close();
}

async function longLog(browser: Browser, yard: Yard, id: number) {
  const { page, context } = await visitTimed(browser, yard, `/tasks/${id}?part=log`);
  const log = page.getByRole('log');
  await log.getByText(`step ${kLines}/${kLines}`).waitFor();
  await page.getByText(`${kLines.toLocaleString('en')} lines`).waitFor();
  const peer = await nothing(browser);
  await page.bringToFront();
  const said = 'page, log of 52 MB:';
  await log.focus();
  await log.hover();
  await series(page, `${said} wheel`, peer, () => wheel(page, -900, 60));
  await series(page, `${said} arrow and page keys`, peer, async () => {
    await press(page, 'PageUp', 30);
    await press(page, 'ArrowDown', 30);
  });
  const shown: number[] = [];
  await series(page, `${said} Home, End, go to a line`, peer, async () => {
    for (const [key, text] of [['Home', 'step 1/'], ['End', `step ${kLines}/`], ['Home', 'step 1/'], ['End', `step ${kLines}/`]] as const) shown.push(await untilShown(page, text, () => page.keyboard.press(key)));
    for (const line of [450_000, 120_000, 777_777, 33, 799_000]) {
      await page.keyboard.press(':');
      await page.keyboard.type(String(line));
      shown.push(await untilShown(page, `step ${line}/`, () => page.keyboard.press('Enter')));
      await page.keyboard.press('Escape');
      await log.focus();
    }
  });
  say(`${said} lines there`, spread(shown));
  const found: number[] = [];
  await series(page, `${said} search`, peer, async () => {
    await page.keyboard.press('/');
    await page.keyboard.type('step 654321/');
    found.push(await untilShown(page, 'step 654321/', () => page.keyboard.press('Enter')));
    await page.keyboard.press('Escape');
  });
  say(`${said} match shown`, `${found[0]!.toFixed(0)} ms`);
  await memory(page, `${said} JavaScript heap`);
  await context.close();
}

/** Milliseconds from the last key of `act` to the frame before which `text` stands in the log. */
async function untilShown(page: Page, text: string, act: () => Promise<void>): Promise<number> {
  await act();
  const at = await page.waitForFunction((wanted) => {
    const rows = [...document.querySelectorAll<HTMLElement>('[role="log"] [data-line]')];
    return rows.some((row) => row.textContent.includes(wanted)) && performance.now() - (globalThis as Watched).timed.begun;
  }, text);
  return (await at.jsonValue()) as number;
}

async function memory(page: Page, what: string) {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  say(what, `${(usedSize / 1e6).toFixed(0)} MB`);
}

async function visitTimed(browser: Browser, yard: Yard, place: string) {
  const { page, context } = await visit(browser, yard);
  await context.addInitScript(watch);
  await page.goto(new URL(place, yard.url).href);
  return { page, context };
}

const browser = await openBrowser();
const yard = new Yard();
try {
  yard.up('--devices', 'cpu:2');
  const id = yard.submit('-n', 'chatty', '/usr/bin/seq', '-f', `step %.0f/${kLines} loss=0.4312 lr=0.000300 tok/s=18234 mem=71.2G`, '1', String(kLines));
  await until(() => yard.task(id).state === 'ended', 'the log is written');
  yard.run(['pause']);
  const tasks = join(yard.work, 'many.jsonl');
  const names = Array.from({ length: kWaiting }, (_, i) => `sweep-${String(i).padStart(4, '0')}-lr-${(i % 9) + 1}e-4`);
  writeFileSync(tasks, names.map((name) => `${JSON.stringify({ name, command: ['/bin/true'], workdir: '/' })}\n`).join(''));
  yard.run(['submit', '-q', '--bulk', tasks]);
  const { context } = await visit(browser, yard);
  await firstView(browser, context, yard.url);
  await context.close();
  await manyWaiting(browser, yard);
  await longLog(browser, yard, id);
} finally {
  await browser.close();
  yard.leave();
}
