import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { contrast } from '@/lib/sgr';

test.each(['light', 'dark'])('The %s theme names its color-scheme, without which the build empties every light-dark()', (scheme) => {
  const page = readFileSync('src/app/page.css', 'utf8');
  const rule = new RegExp(`data-mantine-color-scheme='${scheme}'\\] \\{([^}]*)\\}`).exec(page)?.[1];
  expect(rule).toContain(`color-scheme: ${scheme};`);
});

// Mantine's fields are white, or its dark 6.
test.each([['light', '#ffffff'], ['dark', '#2e2e2e']])('In the %s theme a field says in words that can be read what goes into it', (scheme, field) => {
  const page = readFileSync('src/app/page.css', 'utf8');
  const rule = new RegExp(`data-mantine-color-scheme='${scheme}'\\] \\{([^}]*)\\}`).exec(page)![1]!;
  for (const name of ['placeholder', 'dimmed']) expect(contrast(new RegExp(`--mantine-color-${name}: (#\\w{6})`).exec(rule)![1]!, field)).toBeGreaterThan(4.5);
});
