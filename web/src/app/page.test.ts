import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test.each(['light', 'dark'])('The %s theme names its color-scheme, without which the build empties every light-dark()', (scheme) => {
  const page = readFileSync('src/app/page.css', 'utf8');
  const rule = new RegExp(`data-mantine-color-scheme='${scheme}'\\] \\{([^}]*)\\}`).exec(page)?.[1];
  expect(rule).toContain(`color-scheme: ${scheme};`);
});
