// What stands where, in windows of any width: everything can be reached, and nothing moves by itself.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { live, openBrowser, overflows, settled, until, visit, words, Yard } from './yard.ts';

let browser: Browser;
let yard: Yard;
let writes: number;
let fails: number;
before(async () => {
  browser = await openBrowser();
  yard = new Yard();
  yard.up('--devices', 'cpu:2');
  const script = join(yard.work, 'fails.py');
  writeFileSync(script, 'for i in range(300):\n    print("warming", i, "and " * 60)\nimport nothing_of_that_name\n');
  fails = yard.submit('-n', 'fails', '/usr/bin/python3', script);
  await until(() => yard.task(fails).state === 'ended', 'it fails');
  const line = `line $i ${'abcdefgh '.repeat(40)}`;
  writes = yard.submit('-n', 'a-name-that-is-longer-than-any-column-of-a-list-could-ever-show', '--tag', 'sweep', '--tag', 'of-november', 'sh', '-c', `i=0; while true; do i=$((i+1)); echo "step $i/100000 loss=0.5 ${line}"; sleep 0.2; done`);
  yard.submit('-n', 'sleeps', 'sleep', '100000');
  for (let i = 0; i < 15; i++) yard.submit('-n', `waits-${i}`, 'sleep', '100000');
  await until(() => yard.task(writes).state === 'running', 'it runs');
});
after(async () => {
  await browser.close();
  yard.leave();
});

const en = words.en;

test('a log that is followed stays at its end while the window changes', async () => {
  const { page, context, watcher } = await visit(browser, yard, { place: `/tasks/${writes}?part=log` });
  const log = page.getByRole('log');
  const follow = page.getByRole('button', { name: en['log.follow']! });
  const shown = () =>
    log.evaluate((element) => {
      const rows = [...element.querySelectorAll('[data-line]')].map((row) => ({ line: Number((row as HTMLElement).dataset.line), bottom: row.getBoundingClientRect().bottom }));
      const last = rows.sort((a, b) => a.line - b.line).at(-1);
      return { line: last?.line ?? 0, gap: last ? Math.abs(last.bottom - element.getBoundingClientRect().top - element.clientTop - element.clientHeight) : Infinity };
    });
  await until(async () => (await shown()).line >= 40, 'there is something to scroll through');
  for (const width of [1400, 1024, 800, 390, 1200]) {
    await page.setViewportSize({ width, height: 900 });
    const { line } = await shown();
    await until(async () => (await shown()).line >= line + 3, `at ${width} lines go on coming`);
    assert.equal(await follow.getAttribute('aria-pressed'), 'true', `at ${width} it is followed`);
    await until(async () => (await shown()).gap <= 2, `at ${width} the last line stands at the lower edge`);
  }
  assert.deepEqual(watcher.faults, []);
  await context.close();
});

/** Rows whose last button, or anything at all, is not where one can see and press it. */
const outside = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('[role="grid"]')].flatMap((grid) => {
      const scroller = grid.querySelector('[role="presentation"]')!;
      const left = grid.getBoundingClientRect().left;
      const right = Math.min(left + scroller.clientWidth, document.documentElement.clientWidth);
      return [...grid.querySelectorAll('[data-row]')]
        .filter((row) => {
          const button = [...row.querySelectorAll('button')].at(-1)!.getBoundingClientRect();
          const cells = [...row.querySelectorAll('[role="gridcell"]')].map((cell) => cell.getBoundingClientRect()).filter(({ width }) => width > 0);
          return [button, ...cells].some((box) => box.right > right + 0.5 || box.left < left || box.bottom > row.getBoundingClientRect().bottom + 1);
        })
        .map((row) => `${grid.getAttribute('aria-label')}: ${row.textContent}`);
    }),
  );
for (const width of [1440, 1024, 900, 769, 390]) {
  for (const place of ['/', '/tasks']) {
    test(`each row of ${place} is whole at ${width} pixels, up to its last button`, async () => {
      const { page, context, watcher } = await visit(browser, yard, { place });
      await page.setViewportSize({ width, height: 768 });
      await page.locator('[data-row]').nth(3).waitFor();
      await settled(page.locator('[data-row]').first());
      assert.deepEqual(await outside(page), []);
      assert.equal(await overflows(page), false, 'something is wider than the window');
      if (place === '/tasks') assert.ok((await page.locator(`[data-row="${writes}"]`).getByText('sweep', { exact: true }).boundingBox())!.width > 20, 'a tag can be read beside a long name');
      assert.deepEqual(watcher.faults, []);
      await context.close();
    });
  }
}

test('a failed task opens with the line that shows why in sight', async () => {
  for (const width of [1440, 390]) {
    const { page, context } = await visit(browser, yard, { place: `/tasks/${fails}` });
    await page.setViewportSize({ width, height: 900 });
    await page.reload();
    const marked = page.locator('[data-shown]').last();
    await marked.waitFor();
    await until(() => marked.evaluate((line) => {
      const box = line.parentElement!;
      const [inner, outer] = [line.getBoundingClientRect(), box.getBoundingClientRect()];
      return inner.top >= outer.top && inner.bottom <= outer.top + box.clientTop + box.clientHeight;
    }), `at ${width} it is in sight`);
    await context.close();
  }
});

test('nothing moves on the overview when a call is late or the line at the top grows', async () => {
  const { page, context } = await visit(browser, yard, { place: '/welcome' });
  await page.setViewportSize({ width: 1024, height: 768 });
  await page.route(/\/tasks\?.*ended/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await route.continue();
  });
  await page.addInitScript(() => {
    const shifts: { value: number; of: string[] }[] = ((globalThis as unknown as { shifts: unknown[] }).shifts = []);
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as unknown as { value: number; sources: { node: Node | null }[] }[]) shifts.push({ value: entry.value, of: entry.sources.map(({ node }) => node?.textContent?.slice(0, 30) ?? '') });
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await page.goto(new URL('/', page.url()).href);
  await live(page);
  await page.getByText(/^fails /).waitFor(); // the alert
  const devices = page.getByRole('heading', { name: en['overview.devices']! });
  await settled(devices);
  const shifts = await page.evaluate(() => (globalThis as unknown as { shifts: { value: number; of: string[] }[] }).shifts);
  assert.ok(shifts.reduce((sum, { value }) => sum + value, 0) < 0.01, JSON.stringify(shifts));
  const stood = (await devices.boundingBox())!.y;
  await page.locator('header ul li').last().evaluate((part) => (part.textContent = 'a device frees next, in a number of minutes that nobody can foresee, but then it does '.repeat(3)));
  assert.equal((await devices.boundingBox())!.y, stood);
  await context.close();
});

test('when the yard falls silent the page says so in words, and its figures stand back', async () => {
  const { page, context } = await visit(browser, yard, { expected: [/.*/] });
  await page.locator('[data-row]').first().waitFor();
  yard.kill();
  await page.getByText(en['line.stale']!).waitFor();
  assert.equal(await page.locator('main[data-stale] [role="grid"] [data-live]').first().evaluate((figure) => Number(getComputedStyle(figure).opacity) < 1), true);
  yard.up('--devices', 'cpu:2');
  await live(page);
  await page.getByText(en['line.stale']!).waitFor({ state: 'hidden' });
  await context.close();
});
