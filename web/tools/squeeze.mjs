// Lays the compressed forms of each file of dist/ beside it; the program serves them as they are.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));
const worth = /\.(html|js|css|svg|json|txt)$/;

function* files(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* files(path);
    else if (worth.test(name)) yield path;
  }
}

let first = 0;
const index = readFileSync(join(dist, 'index.html'), 'utf8');
for (const path of files(dist)) {
  const bytes = readFileSync(path);
  const gz = gzipSync(bytes, { level: 9 });
  writeFileSync(path + '.gz', gz);
  writeFileSync(path + '.br', brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }));
  const name = path.slice(dist.length);
  if (name === 'index.html' || index.includes(name)) first += gz.length;
  console.log(`${(gz.length / 1024).toFixed(1).padStart(8)} kB gz  ${name}`);
}
console.log(`${(first / 1024).toFixed(1).padStart(8)} kB gz  first load (without the language's words)`);
