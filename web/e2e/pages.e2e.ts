// The places of the page on the demo's trainings, in both languages and themes, on a desk and in a hand.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { accessibilityFaults, demoYard, live, openBrowser, overflows, visit, words, type Yard } from './yard.ts';

let browser: Browser;
let demo: Yard;
before(async () => {
  browser = await openBrowser();
  demo = demoYard();
});
after(async () => {
  await browser.close();
  demo.leave();
});

const en = words.en;
const ids = Object.keys(en);

const looks = [
  { name: 'English, light, on a desk', language: 'en', dark: false, phone: false },
  { name: 'Chinese, dark, on a desk', language: 'zh', dark: true, phone: false },
  { name: 'English, dark, in a hand', language: 'en', dark: true, phone: true },
  { name: 'Chinese, light, in a hand', language: 'zh', dark: false, phone: true },
] as const;
for (const look of looks) {
  for (const place of ['/', '/tasks', '/tasks/1', '/tasks/2', '/new', '/welcome']) {
    test(`${place} is whole, quiet and open to everybody: ${look.name}`, async () => {
      const { page, context, watcher } = await visit(browser, demo, { ...look, place });
      await page.waitForLoadState('networkidle');
      const text = await page.locator('body').innerText();
      const bare = ids.filter((id) => id.includes('_') && text.includes(id));
      assert.deepEqual(bare, [], 'an id stands where a sentence should');
      if (look.language === 'zh') assert.match(text, /[\u4e00-\u9fff]/);
      assert.equal(await overflows(page), false, 'something is wider than the window');
      assert.deepEqual(await accessibilityFaults(page), []);
      assert.deepEqual(watcher.faults, []);
      await context.close();
    });
  }
}

test('language and theme change in place, and are kept', async () => {
  const { page, context, watcher } = await visit(browser, demo, { place: '/tasks/1' });
  await page.getByRole('button', { name: en['nav.language_label']! }).click();
  await page.getByRole('navigation', { name: words.zh['nav.label']! }).waitFor();
  await page.getByRole('button', { name: words.zh['nav.theme_dark']! }).click();
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
  await page.reload();
  await live(page);
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
  await page.getByRole('navigation', { name: words.zh['nav.label']! }).waitFor();
  assert.deepEqual(watcher.faults, []);
  await context.close();
});

test('zooming a curve asks the yard for that range, and the address keeps how it is looked at', async () => {
  const { page, context, watcher } = await visit(browser, demo, { place: '/tasks/1' });
  const plot = page.getByRole('group', { name: /loss/ }).first();
  await plot.scrollIntoViewIfNeeded();
  await plot.locator('canvas').waitFor();
  const asked = page.waitForRequest((request) => /\/points\?.*from=/.test(request.url()));
  await plot.focus();
  await page.keyboard.press('+');
  await asked;
  await page.getByRole('radiogroup').getByText('Log', { exact: true }).click();
  await page.waitForURL(/log/);
  await page.reload();
  await live(page);
  assert.match(page.url(), /log/);
  assert.deepEqual(watcher.faults, []);
  await context.close();
});
