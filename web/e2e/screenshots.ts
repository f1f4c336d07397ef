// Pictures of the page for the README and the guide, of a yard in which the demo's trainings run. Nothing in them is made
// up: what waits was queued, what failed did fail. Called by script/screenshots.
import { cpSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { live, openBrowser, program, spawn, until, visit, words, Yard } from './yard.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const pictures = process.argv[2] ?? join(root, 'docs/images');

interface Look {
  name: string;
  language: 'en' | 'zh';
  dark: boolean;
  phone: boolean;
}
const desks: Look[] = [
  { name: 'en', language: 'en', dark: false, phone: false },
  { name: 'zh', language: 'zh', dark: true, phone: false },
];
const phones: Look[] = [
  { name: 'phone-en', language: 'en', dark: true, phone: true },
  { name: 'phone-zh', language: 'zh', dark: false, phone: true },
];

interface Row {
  id: number;
  state: string;
  attempt: number | null;
  progress: { fraction: number | null } | null;
}

/** The demo, started and not waited for, in a yard that stays. `ended` comes with its end. */
async function startDemo(): Promise<{ yard: Yard; ended: Promise<void> }> {
  const yard = new Yard();
  const child = spawn(program, ['demo', '--no-open', '--report', join(yard.folder, 'report.json')], { cwd: yard.work, env: yard.env, stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  // Its folder lies in TMPDIR, which is ours.
  const found = () => readdirSync(yard.folder).map((name) => join(yard.folder, name)).find((folder) => existsSync(join(folder, 'sock')));
  yard.home = await until(found, 'the demo has a yard');
  yard.env.TRAINYARD_HOME = yard.home;
  await until(() => rowsOf(yard).length === 3, 'its three trainings are queued');
  return { yard, ended };
}

const rowsOf = (yard: Yard) => yard.json<{ items: Row[] }>('ls', '--all').items;
const rowOf = (yard: Yard, id: number) => rowsOf(yard).find((row) => row.id === id);
const isFar = (row: Row | undefined, part: number) => (row?.progress?.fraction ?? 0) >= part;

/** As until(), for what takes as long as the machine needs. */
async function inTime(look: () => boolean, what: string) {
  for (let minutes = 10; ; minutes--) {
    try {
      return await until(look, what);
    } catch (error) {
      if (minutes === 0) throw error;
    }
  }
}

/** What somebody with these trainings would have queued behind them. Little of it can
 * start before the demo is over: while A waits for its second run, its device is free for others. */
function queueBehind(yard: Yard, project: string) {
  const [python, cnn, mlp, characters] = ['/usr/bin/python3', 'digits-cnn/train.py', 'digits-mlp/train.py', 'char-transformer/train.py'];
  const submit = (name: string, options: string[], ...command: string[]) => yard.submit('-n', name, '-C', project, ...options, python, ...command);
  submit('tokenize-corpus', ['-g', '0', '--tag', 'data'], 'tokenize.py');
  submit('eval-baseline', ['-g', '0', '--retry', '0', '--tag', 'eval'], 'evaluate.py');
  submit('cnn-wide-2dev', ['-g', '2', '--priority', 'high', '--tag', 'digits'], cnn, '--width', '48', '--epochs', '20');
  submit('mlp-lr-3e-3', ['--after', '1', '--tag', 'digits', '--tag', 'sweep'], mlp, '--learning-rate', '3e-3', '--epochs', '120');
  submit('charlm-context-64', ['--after', '1', '--after', '3', '--tag', 'charlm'], characters, '--context', '64', '--epochs', '40');
  submit('charlm-4-layers', ['--after', '1', '--after', '3', '--share', '0.5:turns', '--tag', 'charlm'], characters, '--layers', '4', '--epochs', '40');
  submit('cnn-seeds-nightly', ['--begin', '22:00', '--tag', 'digits', '--tag', 'sweep'], cnn, '--seed', '7', '--epochs', '60');
  submit('charlm-final', ['--hold', '--priority', 'low', '--tag', 'charlm'], characters, '--layers', '4', '--width', '128', '--epochs', '120');
}

/** A folder with the sources of those, as a person has one. */
function projectIn(folder: string): string {
  const project = join(folder, 'digits');
  mkdirSync(project);
  for (const part of ['common', 'data', 'digits-cnn', 'digits-mlp', 'char-transformer']) cpSync(join(root, 'recipes', part), join(project, part), { recursive: true });
  writeFileSync(join(project, 'tokenize.py'), 'for part in range(1, 5):\n    print(f"part {part}/4 done")\n');
  writeFileSync(join(project, 'evaluate.py'), 'import torchmetrics_local\n');
  return project;
}

/** `height`: of the part from the top that is wanted; the whole window if absent. */
async function picture(page: Page, name: string, height?: number) {
  const path = join(pictures, `${name}.png`);
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path, animations: 'disabled', caret: 'hide', ...(height ? { clip: { x: 0, y: 0, width: 1440, height } } : {}) });
  console.log(`${path}  ${(statSync(path).size / 1000).toFixed(0)} kB`);
}

/** Opens `place` in each look. */
async function open(browser: Browser, yard: Yard, looks: Look[], place: string): Promise<{ look: Look; page: Page }[]> {
  const opened = [];
  for (const look of looks) opened.push({ look, page: (await visit(browser, yard, { ...look, place })).page });
  return opened;
}
async function close(opened: { page: Page }[]) {
  for (const { page } of opened) await page.context().close();
}

async function takeOverview(browser: Browser, yard: Yard) {
  const opened = await open(browser, yard, [...desks, ...phones], '/');
  await inTime(() => [1, 2, 3].every((id) => isFar(rowOf(yard, id), 0.1)), 'all three are on their way');
  for (const { look, page } of opened) await picture(page, `overview-${look.name}`);
  await close(opened);
}

async function takeTask(browser: Browser, yard: Yard) {
  const opened = await open(browser, yard, [...desks, ...phones], '/tasks/1');
  await inTime(() => {
    const row = rowOf(yard, 1);
    return row?.attempt === 2 && (row.state === 'ended' || isFar(row, 0.88));
  }, 'A goes on from its checkpoint');
  for (const { look, page } of opened) {
    // Both runs are drawn in the charts that are in sight.
    await page.getByRole('button', { name: look.language === 'zh' ? /第 1 次运行/ : /run 1/ }).nth(look.phone ? 0 : 2).waitFor();
    await picture(page, `task-${look.name}`);
  }
  await close(opened);
}

/** The log of A's first run, which ends in why it failed. */
async function takeLog(browser: Browser, yard: Yard) {
  for (const { look, page } of await open(browser, yard, desks, '/tasks/1?part=log&attempt=1')) {
    const log = page.getByRole('log');
    await log.getByText('Traceback').waitFor();
    await page.waitForLoadState('networkidle');
    const box = (await log.boundingBox())!;
    await picture(page, `task-log-${look.name}`, Math.ceil(box.y + box.height + 16));
    await page.context().close();
  }
}

async function takeNew(browser: Browser, yard: Yard, project: string) {
  for (const { look, page } of await open(browser, yard, desks, '/new')) {
    const word = (id: string) => words[look.language][id]!;
    await page.getByRole('textbox', { name: word('submit.command') }).fill('python3 char-transformer/train.py --layers 4 --learning-rate 3e-4 --epochs 40');
    await page.getByRole('textbox', { name: word('submit.folder') }).fill(project);
    await page.getByRole('textbox', { name: word('submit.name') }).fill('charlm-lr-3e-4');
    await page.getByRole('complementary', { name: word('submit.plan') }).getByRole('definition').first().waitFor();
    await page.waitForLoadState('networkidle');
    await picture(page, `new-task-${look.name}`);
    await page.context().close();
  }
}

async function takePlace(browser: Browser, yard: Yard, place: string, name: string) {
  for (const { look, page } of await open(browser, yard, desks, place)) {
    await page.waitForLoadState('networkidle');
    await live(page);
    await picture(page, `${name}-${look.name}`);
    await page.context().close();
  }
}

mkdirSync(pictures, { recursive: true });
const browser = await openBrowser();
const { yard, ended } = await startDemo();
try {
  const project = projectIn(yard.work);
  queueBehind(yard, project);
  await takeOverview(browser, yard);
  await takeTask(browser, yard);
  await ended;
  await takeLog(browser, yard);
  await takePlace(browser, yard, '/tasks', 'tasks');
  await takeNew(browser, yard, project);
  await takePlace(browser, yard, '/welcome', 'machine-check');
} finally {
  await browser.close();
  yard.leave();
}
