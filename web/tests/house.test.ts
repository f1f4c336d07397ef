// The rules of the house: imports go one way, features meet at their doors, and no text ever becomes HTML.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const floors = ['lib', 'components', 'features', 'app'];

function* sources(folder: string): Generator<{ path: string; text: string }> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* sources(path);
    else if (/\.tsx?$/.test(name)) yield { path: relative('src', path), text: readFileSync(path, 'utf8') };
  }
}
const files = [...sources('src')];

function* imports(file: { path: string; text: string }) {
  for (const [, where] of file.text.matchAll(/(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)) {
    if (where!.startsWith('@/')) yield where!.slice(2);
    else if (where!.startsWith('.')) yield join(file.path, '..', where!);
  }
}

test('imports go down the floors: app, features, components, lib', () => {
  const wrong: string[] = [];
  for (const file of files) {
    const from = floors.indexOf(file.path.split('/')[0]!);
    if (from < 0) continue; // main.tsx
    for (const where of imports(file)) {
      const to = floors.indexOf(where.split('/')[0]!);
      if (to > from) wrong.push(`${file.path} imports ${where}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('a feature enters another by a door alone: its index, or that of a place within it', () => {
  const doors = new Set(files.map(({ path }) => path).filter((path) => /\/index\.tsx?$/.test(path)).map((path) => dirname(path)));
  const wrong: string[] = [];
  for (const file of files) {
    const [floor, feature] = file.path.split('/');
    for (const where of imports(file)) {
      const parts = where.split('/');
      if (parts[0] !== 'features' || (floor === 'features' && parts[1] === feature)) continue;
      if (!doors.has(where)) wrong.push(`${file.path} imports ${where}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('no text ever becomes HTML or code', () => {
  const raw = /dangerouslySetInnerHTML|\binnerHTML\b|\bouterHTML\b|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|\beval\(|new Function|srcDoc|javascript:/;
  expect(files.filter((file) => !file.path.includes('.test.') && raw.test(file.text)).map((file) => file.path)).toEqual([]);
});

test('a link that is made of data goes to a place of ours or to the API', () => {
  const wrong = files.flatMap((file) => [...file.text.matchAll(/href=\{(?!`\/|`\.?\/?api\/|'\/|props\.href|href\b|[a-zA-Z]*(?:Url|Link|Href|href)\b)([^}]*)\}/g)].map((found) => `${file.path}: ${found[0]}`));
  expect(wrong).toEqual([]);
});

test('places are loaded when they are first seen', () => {
  const shell = files.find((file) => file.path === 'app/places.tsx')!;
  expect([...shell.text.matchAll(/lazy\(/g)].length).toBe(5);
  for (const file of files.filter((each) => each.path.startsWith('app/') && each.path !== 'app/places.tsx'))
    expect([...imports(file)].filter((where) => /features\/(overview|task|submit|welcome|tasks)\b/.test(where))).toEqual([]);
});

test('nothing is asked of a secure context without looking first', () => {
  const wrong = files.filter((file) => !file.path.includes('.test.') && /crypto\.(randomUUID|subtle)|navigator\.(locks|serviceWorker)|clipboard\.writeText/.test(file.text) && !/\?\.|isSecureContext|typeof/.test(file.text));
  expect(wrong.map((file) => file.path)).toEqual([]);
});
