// Names, logs and metrics are hostile text: whatever stands in them, it is shown as text and does nothing.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { live, openBrowser, until, visit, Yard } from './yard.ts';

const corpus = [
  '<script>window.__owned=1;alert(1)</script>',
  '<img src=x onerror="window.__owned=1;alert(1)">',
  '"><svg/onload=window.__owned=1>',
  "';window.__owned=1;//",
  '<a href="javascript:window.__owned=1">click</a>',
  '<iframe srcdoc="<script>parent.__owned=1</script>"></iframe>',
  '{{constructor.constructor("window.__owned=1")()}}',
  '${window.__owned=1}',
  '</title></style></textarea><script>window.__owned=1</script>',
  '\u202Eevil\u202C \u2066x\u2069 \u200B\uFEFF',
  '__proto__',
  'constructor',
  'a/../../etc/passwd',
  '%3Cscript%3Ewindow.__owned=1%3C/script%3E',
  '#/../?x=1&y=<b>',
  '\u001b]8;;javascript:window.__owned=1\u0007link\u001b]8;;\u0007',
  '\u001b]0;title<script>\u0007\u001b[31m<b>red</b>\u001b[0m',
  '\u001b[2J\u001b[1;1H\u001b[999999999999m\u001b[38;5;999mX',
  '\u0000\u0001\u0008\u007f<u>control</u>',
];
// A name may hold nothing that cannot be shown; the yard refuses it. These are the ones it takes.
const names = corpus.filter((text) => !/[\u0000-\u001f\u007f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/.test(text)).map((text, i) => `${text} n${i}`.slice(0, 120));

let browser: Browser;
let yard: Yard;
let noisy: number;
before(async () => {
  browser = await openBrowser();
  yard = new Yard();
  yard.up('--devices', 'cpu:2');
  const script = join(yard.work, 'noisy.py');
  writeFileSync(
    script,
    [
      'import json, os, sys, time',
      `corpus = json.loads(${JSON.stringify(JSON.stringify(corpus))})`,
      'for line in corpus:',
      '    sys.stdout.buffer.write(line.encode("utf-8", "surrogatepass") + b"\\n")',
      'sys.stdout.buffer.write(bytes(range(256)) + b"\\n\\xff\\xfe broken \\xc3\\n" + b"x" * 100000 + b"\\n")',
      'sys.stdout.flush()',
      'with open(os.path.join(os.environ["TRAINYARD_OUT"], "metrics.jsonl"), "a") as file:',
      '    for step in range(20):',
      '        for tag in corpus:',
      '            file.write(json.dumps({"attempt": int(os.environ["TRAINYARD_ATTEMPT"]), "step": step, "time": time.time(), "metrics": {tag: [1.0, "NaN", "Infinity", "-Infinity"][step % 4]}}) + "\\n")',
      'for name in ("<img src=x onerror=alert(1)>.txt", "out.html", "\\u202etxt.exe"):',
      '    open(os.path.join(os.environ["TRAINYARD_OUT"], name), "w").write("<script>alert(1)</script>")',
      'raise ValueError("<script>window.__owned=1;alert(1)</script>")',
    ].join('\n'),
  );
  noisy = yard.submit('-n', 'noisy <b>', '--retry', '0', '/usr/bin/python3', script);
  await until(() => yard.task(noisy).state === 'ended', 'the noisy task ends');
  yard.run(['pause']);
  for (const name of names) yard.submit('-n', name, '--tag', 'evil', 'echo', name);
});
after(async () => {
  await browser.close();
  yard.leave();
});

const untouched = (page: import('playwright-core').Page) =>
  page.evaluate(() => ({
    owned: (window as unknown as { __owned?: number }).__owned ?? 0,
    strange: [...document.querySelectorAll('iframe, script:not([src]), object, embed, a[href^="javascript:"], img:not([src^="./"]):not([src^="/"])')].map((element) => element.outerHTML.slice(0, 80)),
    title: document.title,
  }));

for (const place of ['/', '/tasks', '/new', 'task', 'waiting'] as const) {
  test(`nothing in a name, a log, a tag or a file's name is anything but text at ${place}`, async () => {
    const path = place === 'task' ? `/tasks/${noisy}` : place === 'waiting' ? `/tasks/${noisy + 2}` : place;
    const { page, context, watcher } = await visit(browser, yard, { place: path });
    await page.waitForLoadState('networkidle').catch(() => null); // the stream stays; calls have come back by then
    await live(page);
    // Everything that can be opened is opened.
    for (const tab of await page.getByRole('tab').all()) {
      await tab.click();
      await live(page);
    }
    await page.mouse.wheel(0, 4000);
    const found = await untouched(page);
    assert.equal(found.owned, 0);
    assert.deepEqual(found.strange, []);
    assert.deepEqual(watcher.faults, []);
    await context.close();
  });
}

test('the files of a task come as downloads, never as pages', async () => {
  const { page, context } = await visit(browser, yard);
  const answer = await page.evaluate(async (id) => {
    const response = await fetch(`./api/v1/tasks/${id}/file?path=${encodeURIComponent('out/out.html')}`);
    return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
  }, noisy);
  assert.equal(answer.status, 200);
  assert.equal(answer.text, '<script>alert(1)</script>');
  assert.match(answer.headers['content-disposition']!, /^attachment/);
  assert.equal(answer.headers['x-content-type-options'], 'nosniff');
  assert.match(answer.headers['content-security-policy']!, /sandbox/);
  await context.close();
});
