// Lines that a person selected: from a first one to a last one, in either direction.
import { plainText } from '@/lib/sgr';
import type { Line } from './cache';

export interface Selected {
  anchor: number;
  focus: number;
}
export const firstOf = ({ anchor, focus }: Selected) => Math.min(anchor, focus);
export const lastOf = ({ anchor, focus }: Selected) => Math.max(anchor, focus);
export const holds = (selected: Selected | null, line: number) =>
  selected !== null && line >= firstOf(selected) && line <= lastOf(selected);

export const mostCopied = 20_000; // lines
const mostLetters = 16_000_000;
const perCall = 2000;

/** The text of lines [from, to], fetched anew: most of them are not in the page. */
export async function textOf(
  itemsOf: (from: number, count: number) => Promise<readonly Line[]>,
  from: number,
  to: number,
): Promise<{ text: string; lines: number; all: boolean }> {
  const texts: string[] = [];
  let letters = 0;
  const end = Math.min(to, from + mostCopied - 1);
  while (from + texts.length <= end && letters < mostLetters) {
    const first = from + texts.length;
    const items = await itemsOf(first, Math.min(perCall, end - first + 1));
    if (items.length === 0) break;
    for (const { text } of items) {
      texts.push(plainText(text));
      letters += text.length;
    }
  }
  return { text: texts.join('\n') + (texts.length ? '\n' : ''), lines: texts.length, all: from + texts.length > to };
}
