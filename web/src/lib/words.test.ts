import { expect, test } from 'vitest';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fill } from './words';
import english from '@gen/en.json';

test('arguments are put in by their kind', () => {
  expect(fill('{n:int} {n?task|tasks} in {s:duration}', { n: 1, s: 90 }, 'en')).toBe('1 task in 1 min 30 s');
  expect(fill('{n:int} {n?task|tasks}', { n: 1200 }, 'en')).toBe('1,200 tasks');
  expect(fill('{b:bytes} {x:real} {p:percent}', { b: 1536, x: 0.00001234, p: 41.6 }, 'en')).toBe('1.5 KiB 1.234e-5 42 %');
  expect(fill('{{n}} {name}', { name: '<b>{n}</b>' }, 'en')).toBe('{n} <b>{n}</b>');
});

test('a text of the catalogue is never filled a second time', () => {
  expect(fill('{a}{b}', { a: '{b}', b: '1' }, 'en')).toBe('{b}1');
});

function* sources(folder: string): Generator<string> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* sources(path);
    else if (/\.tsx?$/.test(name) && !name.includes('.test.')) yield readFileSync(path, 'utf8');
  }
}

test('every sentence of the catalogue is used', () => {
  const all = [...sources('src')].join('\n');
  // Ids may be made: t(`state.${standing}`) uses all of state.*
  const made = [...all.matchAll(/`([a-z_]+(?:\.[a-z_]+)*\.[a-z_]*)\$\{/g)].map((found) => found[1]!);
  const unused = Object.keys(english).filter((id) => !new RegExp(`['"\`]${id.replaceAll('.', '\\.')}['"\`]`).test(all) && !made.some((beginning) => id.startsWith(beginning)));
  expect(unused).toEqual([]);
});
