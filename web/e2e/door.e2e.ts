// Getting in, staying in, and who does not.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { request } from 'node:http';
import type { Browser } from 'playwright-core';
import { live, notLive, openBrowser, tunnel, until, visit, Watcher, words, Yard } from './yard.ts';

let browser: Browser;
let yard: Yard;
before(async () => {
  browser = await openBrowser();
  yard = new Yard();
  yard.up('--devices', 'cpu:2');
});
after(async () => {
  await browser.close();
  yard.leave();
});

/** What the yard answers to a request with headers of our own. */
function ask(path: string, headers: Record<string, string>): Promise<number> {
  const url = new URL(yard.url);
  return new Promise((resolve, reject) => {
    request({ host: url.hostname, port: url.port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .on('upgrade', (response, socket) => {
        socket.destroy();
        resolve(response.statusCode ?? 0);
      })
      .end();
  });
}

test('a stranger sees whose yard it is and how to open it, and nothing else', async () => {
  const page = await browser.newPage();
  const watcher = new Watcher();
  watcher.watch(page);
  await page.goto(yard.url);
  await page.getByText('trainyard open', { exact: true }).waitFor();
  await page.getByLabel(words.en['front.code']!).fill('no-such-code');
  watcher.expected.push(/401/);
  await page.getByRole('button', { name: words.en['front.enter']! }).click();
  await page.locator('[id$="-error"]').waitFor();
  assert.equal(await page.getByRole('navigation').count(), 0);
  assert.deepEqual(watcher.faults, []);
  await page.context().close();
});

test('a link works once, leaves no code in the address or the history, and the session outlives kill -9', async () => {
  const link = yard.link();
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await live(page);
  assert.ok(!page.url().includes('code'), page.url());
  const cookies = await context.cookies();
  assert.equal(cookies.length, 1);
  assert.ok(cookies[0]!.httpOnly && cookies[0]!.sameSite === 'Strict' && !cookies[0]!.secure);

  const other = await browser.newContext();
  const stranger = await other.newPage();
  await stranger.goto(link);
  await stranger.getByText('trainyard open', { exact: true }).waitFor();
  await other.close();

  yard.kill();
  await notLive(page).waitFor();
  yard.up('--devices', 'cpu:2');
  await live(page);
  await page.reload();
  await live(page);
  await context.close();
});

test('through a tunnel with another port all of it works', async () => {
  const { port, server } = await tunnel(Number(new URL(yard.url).port));
  const { page, context, watcher } = await visit(browser, yard, { origin: `http://localhost:${port}` });
  await page.goto(`http://localhost:${port}/new`);
  await live(page);
  assert.deepEqual(watcher.faults, []);
  await context.close();
  server.close();
});

test('after an hour of sleep the page says what is true within seconds', async () => {
  const { port, server, forget } = await tunnel(Number(new URL(yard.url).port));
  const { page, context, watcher } = await visit(browser, yard, { origin: `http://localhost:${port}`, place: '/tasks' });
  await page.clock.install();
  await page.reload();
  await live(page);
  forget();
  yard.run(['run', '-q', '-n', 'while-you-slept', 'true']);
  await page.clock.fastForward('01:00:00');
  await page.getByText('while-you-slept').waitFor();
  await live(page);
  assert.deepEqual(watcher.faults, []);
  await context.close();
  server.close();
});

test('a foreign Host is misdirected, a foreign Origin refused, the stream too', async () => {
  const { host } = new URL(yard.url);
  const { context } = await visit(browser, yard);
  const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
  const stream = { cookie, connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
  assert.equal(await ask('/api/v1/status', { host, cookie }), 200);
  assert.equal(await ask('/api/v1/status', { host }), 401);
  assert.equal(await ask('/', { host: 'evil.test' }), 421);
  assert.equal(await ask('/api/v1/status', { host: 'localhost:18888', cookie }), 200);
  assert.equal(await ask('/api/v1/status', { host, cookie, origin: 'http://evil.test' }), 403);
  assert.equal(await ask('/api/v1/status', { host, cookie, origin: 'null' }), 403);
  assert.equal(await ask('/api/v1/live', { host, ...stream, origin: `http://${host}` }), 101);
  assert.equal(await ask('/api/v1/live', { host, ...stream, origin: 'http://evil.test' }), 403);
  assert.equal(await ask('/api/v1/live', { host, ...stream }), 403);
  assert.equal(await ask('/api/v1/live', { host, ...stream, cookie: '', origin: `http://${host}` }), 401);
  assert.equal(await ask('/assets/no-such-thing.js', { host }), 404);
  await context.close();
});

test('signing out ends the session here and its stream', async () => {
  const { page, context } = await visit(browser, yard);
  await page.getByRole('button', { name: words.en['nav.sign_out']! }).click();
  await page.getByText('trainyard open', { exact: true }).waitFor();
  await page.reload();
  await page.getByText('trainyard open', { exact: true }).waitFor();
  await context.close();
});

test('ten tabs on plain HTTP are all live, and stay so', async () => {
  const { page, context, watcher } = await visit(browser, yard);
  const tabs = [page];
  for (let i = 1; i < 10; i++) {
    const tab = await context.newPage();
    watcher.watch(tab);
    await tab.goto(new URL('/', page.url()).href);
    tabs.push(tab);
  }
  for (const tab of tabs) await live(tab);
  const id = yard.submit('-n', 'seen-in-every-tab', 'sleep', '1000');
  for (const tab of tabs) await tab.getByText('seen-in-every-tab').first().waitFor();
  yard.run(['cancel', String(id)]);
  await until(() => yard.task(id).state === 'ended', 'the task ends');
  assert.deepEqual(watcher.faults, []);
  await context.close();
});

test('two yards on one host stay signed in side by side', async () => {
  const second = new Yard();
  second.up('--devices', 'cpu:1');
  const { page, context } = await visit(browser, yard);
  const other = await context.newPage();
  await other.goto(second.link());
  await live(other);
  await page.reload();
  await live(page);
  await other.reload();
  await live(other);
  await context.close();
  second.leave();
});
