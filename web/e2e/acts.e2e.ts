// What a person does on the page, and that the yard does it.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { live, notLive, openBrowser, settled, until, visit, words, Yard } from './yard.ts';

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
beforeEach(() => yard.clear());

const en = words.en;
/** A sentence of the catalogue with its arguments. */
const say = (id: string, args: Record<string, string | number> = {}) => en[id]!.replace(/\{([a-z_]+)[^}]*\}/g, (_, name: string) => String(args[name]));
const waiting = () => yard.json<{ items: { id: number; state: string }[] }>('ls').items.filter((task) => task.state === 'waiting').map((task) => task.id);

test('a task is typed, previewed, queued, seen running, stopped and tried again', async () => {
  const { page, context, watcher } = await visit(browser, yard, { place: '/new' });
  watcher.expected.push(/422/);
  await page.getByRole('textbox', { name: en['submit.command']! }).fill('for i in 1 2 3; do echo "epoch $i/3 loss=0.$i"; done; sleep 1000');
  await page.getByRole('textbox', { name: en['submit.folder']! }).fill(yard.work);
  await page.getByRole('textbox', { name: en['submit.name']! }).fill('typed');
  await page.getByText(en['submit.plan_now']!, { exact: true }).waitFor();
  await page.getByRole('textbox', { name: en['submit.command']! }).press('Control+Enter');
  await page.waitForURL(/\/tasks\/\d+/);
  const id = Number(/tasks\/(\d+)/.exec(page.url())![1]);
  await page.getByText('epoch 3/3 loss=0.3').first().waitFor();
  await page.getByRole('button', { name: en['task.act_stop']!, exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: en['task.act_stop']! }).click();
  await until(() => yard.task(id).outcome?.kind === 'cancelled', 'the task is cancelled');
  await page.getByText(en['state.cancelled']!).first().waitFor();
  await page.getByRole('button', { name: en['task.act_retry']!, exact: true }).first().click();
  await until(() => yard.task(id).attempts.length === 2, 'a second run');
  await page.locator('[data-standing="running"]').first().waitFor();
  yard.run(['cancel', String(id)]);
  await page.getByText(en['state.cancelled']!).first().waitFor();
  assert.deepEqual(watcher.faults, []);
  await context.close();
});

test('what is wrong with a new task stands at its field, all of it at once', async () => {
  const { page, context } = await visit(browser, yard, { place: '/new', expected: [/422/] });
  const box = (id: string) => page.locator(`#new-task-${id}`);
  const isMarked = async (id: string) => (await box(id).getAttribute('aria-invalid')) === 'true';
  await box('command').fill('echo hello');
  await box('folder').fill(yard.work);
  await page.getByRole('button', { name: new RegExp(`^${en['submit.more']!}`) }).click();
  await box('devices').fill('99');
  await box('name').fill('@home');
  await box('time').fill('long');
  await until(async () => (await isMarked('devices')) && (await isMarked('name')) && (await isMarked('time')), 'all three fields are marked');
  assert.deepEqual([await isMarked('command'), await isMarked('folder')], [false, false]);
  await page.getByRole('button', { name: new RegExp(`^${en['submit.send']!}`) }).click();
  await until(() => box('devices').evaluate((field) => field === document.activeElement), 'the first has the focus');
  await box('devices').fill('1');
  await until(async () => !(await isMarked('devices')), 'its mark goes');
  assert.deepEqual([await isMarked('name'), await isMarked('time')], [true, true]);
  await box('folder').fill('/no/such/folder');
  await until(() => isMarked('folder'), 'a folder that is not there is marked');
  assert.deepEqual(waiting(), []);
  await context.close();
});

test('what was typed for a new task is there again, however one leaves', async () => {
  const { page, context, watcher } = await visit(browser, yard, { place: '/new', expected: [/422/] });
  const box = (id: string) => page.locator(`#new-task-${id}`);
  await box('folder').fill(yard.work);
  await box('devices').fill('2');
  await page.getByRole('link', { name: en['nav.yard']!, exact: true }).first().click();
  await box('devices').waitFor({ state: 'detached' });
  await page.goBack();
  await box('devices').waitFor();
  assert.deepEqual([await box('folder').inputValue(), await box('devices').inputValue()], [yard.work, '2']);
  await box('command').fill('echo kept');
  await page.reload();
  await box('command').waitFor();
  assert.equal(await box('command').inputValue(), 'echo kept');
  assert.deepEqual(watcher.faults, []);
  await context.close();
});

test('a failed task opens on why it failed, with its last lines', async () => {
  const script = join(yard.work, 'fails.py');
  writeFileSync(script, 'import nothing_of_that_name\n');
  const id = yard.submit('/usr/bin/python3', script);
  await until(() => yard.task(id).state === 'ended', 'it fails');
  const { page, context, watcher } = await visit(browser, yard, { place: `/tasks/${id}` });
  await page.getByText(en['state.failed']!).first().waitFor();
  await page.getByText('ModuleNotFoundError').first().waitFor();
  await page.getByRole('button', { name: en['task.act_retry']!, exact: true }).first().waitFor();
  assert.deepEqual(watcher.faults, []);
  await context.close();
});

test('after kill -9 of the daemon the open page is right again by itself', async () => {
  const id = yard.submit('-n', 'survivor', 'sh', '-c', 'i=0; while true; do i=$((i+1)); echo "step $i/100000 loss=0.5"; sleep 0.2; done');
  const { page, context } = await visit(browser, yard, { place: `/tasks/${id}`, expected: [/ERR_CONNECTION_REFUSED|WebSocket connection|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|Failed to load resource/] });
  await page.getByText(/step \d+\/100000/).first().waitFor();
  yard.kill();
  await notLive(page).waitFor();
  yard.up('--devices', 'cpu:2');
  await live(page);
  const seen = await page.getByText(/step \d+\/100000/).last().innerText();
  await until(async () => (await page.getByText(/step \d+\/100000/).last().innerText()) !== seen, 'the log goes on');
  assert.equal(yard.task(id).attempts.length, 1);
  await page.locator('[data-standing="running"]').first().waitFor();
  yard.run(['cancel', String(id)]);
  await page.getByText(en['state.cancelled']!).first().waitFor();
  await context.close();
});

test('the queue is reordered by keyboard, paused and resumed, and the yard agrees', async () => {
  const busy = [yard.submit('sleep', '1000'), yard.submit('sleep', '1000')];
  const [first, second, third] = ['one', 'two', 'three'].map((name) => yard.submit('-n', name, 'sleep', '1000'));
  const { page, context, watcher } = await visit(browser, yard);
  await page.getByRole('button', { name: /^Move three,/ }).focus();
  await page.keyboard.press('Alt+ArrowUp');
  await until(() => JSON.stringify(waiting()) === JSON.stringify([first, third, second]), 'three stands before two');
  await page.getByRole('button', { name: en['overview.pause_label']! }).click();
  await page.getByRole('button', { name: en['overview.resume_label']! }).last().waitFor();
  yard.run(['cancel', ...busy.map(String)]);
  await until(() => busy.every((id) => yard.task(id).state === 'ended'), 'the devices are free');
  assert.equal(waiting().length, 3);
  await page.getByRole('button', { name: en['overview.resume_label']! }).last().click();
  await until(() => waiting().length === 1, 'two of them start');
  assert.deepEqual(waiting(), [second]);
  assert.deepEqual(watcher.faults, []);
  await context.close();
});

test('a device is held and released from its card', async () => {
  const { page, context, watcher } = await visit(browser, yard);
  await page.getByRole('button', { name: say('overview.device_menu', { device: 'cpu:0' }) }).click();
  await page.getByRole('menuitem', { name: en['overview.hold_open']! }).click();
  await until(() => yard.json<{ items: { label: string; state: string }[] }>('devices').items[0]!.state === 'held', 'it is held');
  const head = page.getByRole('heading', { name: 'cpu:0' }).locator('..');
  await head.getByText(en['overview.device_held']!).waitFor();
  yard.run(['devices', 'release', 'cpu:0']);
  await head.getByText(en['overview.device_held']!).waitFor({ state: 'hidden' });
  assert.deepEqual(watcher.faults, []);
  await context.close();
});

test('a row of the queue is dragged to its place', async () => {
  for (let i = 0; i < 2; i++) yard.submit('sleep', '1000');
  const [first, second, third] = ['one', 'two', 'three'].map((name) => yard.submit('-n', name, 'sleep', '1000'));
  const { page, context, watcher } = await visit(browser, yard);
  const handle = page.getByRole('button', { name: /^Move three,/ });
  const goal = page.getByRole('button', { name: /^Move one,/ });
  await handle.scrollIntoViewIfNeeded();
  await settled(handle);
  const from = (await handle.boundingBox())!;
  const to = (await goal.boundingBox())!;
  await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
  await page.mouse.down();
  await page.mouse.move(from.x + from.width / 2, from.y - 8, { steps: 4 });
  await page.mouse.move(to.x + to.width / 2, to.y - 4, { steps: 8 });
  await page.mouse.up();
  await until(() => JSON.stringify(waiting()) === JSON.stringify([third, first, second]), 'three stands first');
  assert.deepEqual(watcher.faults, []);
  await context.close();
});
