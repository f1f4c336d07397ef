import { MantineProvider } from '@mantine/core';
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import english from '@gen/en.json';
import { WordsProvider } from '@/lib/words';
import { ProgressLine } from './ProgressLine';

afterEach(cleanup);

test.each([
  [1.9, '2 s left'],
  [59.2, '1 min left'],
  [61.5, '1 min 1 s left'],
  [0, 'finishing'],
])('of %s seconds a person is told "%s": no tenths of what is a guess', (timeLeft, words) => {
  render(
    <MantineProvider>
      <WordsProvider first="en" catalogue={english}>
        <ProgressLine progress={{ unit: 'step', done: 3, total: 10, fraction: 0.3 } as never} timeLeft={timeLeft} />
      </WordsProvider>
    </MantineProvider>,
  );
  expect(screen.getByText(words)).toBeTruthy();
});
