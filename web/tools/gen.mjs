// Makes gen/: the API's types from api/openapi.yaml and the catalogue's types from messages/web/*.json.
import { mkdirSync, readFileSync, writeFileSync, existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';

const root = new URL('../../', import.meta.url);
const gen = new URL('../gen/', import.meta.url);
mkdirSync(gen, { recursive: true });

function write(name, text) {
  const file = new URL(name, gen);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return; // leaves watchers alone
  writeFileSync(file, text);
}

// ---- The catalogue: each id with the arguments that its text wants.

const kinds = { int: 'number', real: 'number', bytes: 'number', duration: 'number', time: 'string', percent: 'number' };

function argumentsOf(text) {
  const found = {};
  for (const [, name, rest] of text.replaceAll('{{', '').replaceAll('}}', '').matchAll(/\{([a-z_]+)([^}]*)\}/g)) {
    const kind = rest.startsWith(':') ? rest.slice(1) : rest.startsWith('?') ? 'int' : 'text';
    if (kind !== 'text' && !(kind in kinds)) throw new Error(`unknown kind "${kind}" in: ${text}`);
    if (found[name] && found[name] !== kind && !rest.startsWith('?')) throw new Error(`{${name}} has two kinds in: ${text}`);
    if (!found[name] || !rest.startsWith('?')) found[name] = kind;
  }
  return found;
}

const catalogue = (language) => JSON.parse(readFileSync(new URL(`messages/web/${language}.json`, root), 'utf8'));
const english = catalogue('en');
const chinese = catalogue('zh-CN');
const faults = [];
for (const id of Object.keys(english)) {
  if (!(id in chinese)) faults.push(`${id} has no Chinese`);
  else {
    // A plural may vanish in Chinese; an argument may not.
    const [a, b] = [argumentsOf(english[id]), argumentsOf(chinese[id])];
    for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
      if (!(name in a) || (!(name in b) && new RegExp(`\\{${name}(:|\\})`).test(english[id])))
        faults.push(`${id}: {${name}} stands in one language alone`);
    }
  }
}
for (const id of Object.keys(chinese)) if (!(id in english)) faults.push(`${id} has no English`);
if (faults.length) {
  console.error(faults.join('\n'));
  process.exit(1);
}
const lines = Object.keys(english).map((id) => {
  const args = Object.entries(argumentsOf(english[id])).map(([name, kind]) => `${name}: ${kinds[kind] ?? 'string | number'}`);
  return `  '${id}': ${args.length ? `{ ${args.join('; ')} }` : 'undefined'};`;
});
write('words.ts', `// Made by tools/gen.mjs from messages/web/en.json.\nexport interface Words {\n${lines.join('\n')}\n}\n`);
write('en.json', JSON.stringify(english));
write('zh.json', JSON.stringify(chinese));

// ---- The API.

const ast = await openapiTS(new URL('api/openapi.yaml', root));
write('api.d.ts', `// Made by tools/gen.mjs from api/openapi.yaml.\n${astToString(ast)}`);
