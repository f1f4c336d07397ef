import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import english from '@gen/en.json';
import { WordsProvider } from '@/lib/words';
import { CopyLine } from './CopyLine';
import { copyText } from '@/lib/copyText';
import { byLevel, type Finding } from './findings';
import { WelcomePage } from './WelcomePage';

const finding = (level: Finding['level'], text: string, mend: string | null = null): Finding => ({ check: text, level, text, mend });
let findings: Finding[] = [];
const show = (children: React.ReactNode) =>
  render(
    <MantineProvider env="test">
      <WordsProvider first="en" catalogue={english}>
        <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>{children}</QueryClientProvider>
      </WordsProvider>
    </MantineProvider>,
  );

beforeEach(() => {
  findings = [finding('good', 'Disk is fine.'), finding('bad', 'No <driver>.', 'sudo modprobe nvidia'), finding('note', 'Log-out ends tasks.', 'loginctl enable-linger')];
  vi.stubGlobal('fetch', vi.fn(async () => new Response(JSON.stringify({ items: findings, next: null }), { headers: { 'Content-Type': 'application/json' } })));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test('what is bad comes first, then notes, then what is good, each with its command', async () => {
  show(<WelcomePage />);
  await screen.findByText('No <driver>.');
  expect(screen.getAllByRole('heading', { level: 2 }).map((each) => each.textContent)).toEqual(['To be mended', 'Worth knowing', 'Good', 'A first task']);
  expect(screen.getByText('sudo modprobe nvidia')).toBeTruthy();
  expect(screen.getByText('1 thing needs mending before trainings run well.')).toBeTruthy();
});

test('looking again asks the yard anew', async () => {
  show(<WelcomePage />);
  await screen.findByText('No <driver>.');
  findings = [finding('good', 'Disk is fine.')];
  fireEvent.click(screen.getByRole('button', { name: 'Look again' }));
  await waitFor(() => expect(screen.queryByText('No <driver>.')).toBeNull());
  expect(screen.getByText('All is well: the yard can run trainings.')).toBeTruthy();
});

test('findings keep the order of the yard within their level', () => {
  expect(byLevel([finding('note', 'b'), finding('good', 'x'), finding('note', 'a')]).note.map(({ text }) => text)).toEqual(['b', 'a']);
});

test('a command is copied by the old way where there is no clipboard', async () => {
  vi.stubGlobal('navigator', { ...navigator, clipboard: undefined });
  let copied = '';
  document.execCommand = () => {
    copied = (document.querySelector('textarea') as HTMLTextAreaElement).value;
    return true;
  };
  expect(await copyText('trainyard demo')).toBe(true);
  expect(copied).toBe('trainyard demo');
  expect(document.querySelector('textarea')).toBeNull();
});

test('where nothing can copy, the line is selected and says which key to press', async () => {
  vi.stubGlobal('navigator', { ...navigator, clipboard: undefined });
  document.execCommand = () => false;
  show(<CopyLine line="trainyard demo" />);
  fireEvent.click(screen.getByRole('button', { name: 'Copy: trainyard demo' }));
  expect(await screen.findByText('Selected; press Ctrl+C')).toBeTruthy();
});
