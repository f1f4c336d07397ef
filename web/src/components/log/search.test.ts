import { describe, expect, it, vi } from 'vitest';
import { LogSearch, markPattern, markRanges, mostCounted, type Matches } from './search';
import { columnsOf, pieces } from './visible';

const plain = { regex: false, matchCase: false };

/** A yard that looks through `span` lines a call. */
function yardOf(total: number, hits: (line: number) => boolean, span = 100_000) {
  let end = total;
  const calls: number[] = [];
  const search = async (_q: string, _options: unknown, from: number, limit: number): Promise<Matches> => {
    calls.push(from);
    const items = [];
    let line = from;
    for (; line < end && line < from + span && items.length < limit; line++) if (hits(line)) items.push({ line, text: '' });
    return { items, next: line < end ? line : null };
  };
  return { search, calls, grow: (by: number) => (end += by) };
}
async function searching(yard: ReturnType<typeof yardOf>) {
  const search = new LogSearch(yard.search, () => {});
  search.set('loss', plain);
  await vi.waitFor(() => expect(search.counting).toBe(false));
  return search;
}

describe('a search', () => {
  it('counts over several calls and knows when it is through', async () => {
    const yard = yardOf(10_000, (line) => line % 100 === 0, 1_000);
    const search = await searching(yard);
    expect([search.found.length, search.complete, yard.calls.length]).toEqual([100, true, 10]);
    expect([search.matches(300), search.matches(301)]).toEqual([true, false]);
  });

  it('goes on and back from where one is, and around the ends', async () => {
    const search = await searching(yardOf(1_000, (line) => line % 100 === 50));
    expect(await search.next(120)).toBe(150);
    expect(search.position).toBe(2);
    expect(await search.next(950)).toBe(50);
    expect(await search.previous(50, 1_000)).toBe(950);
    expect(await search.previous(951, 1_000)).toBe(950);
  });

  it('finds nothing when there is nothing', async () => {
    const search = await searching(yardOf(1_000, () => false));
    expect([await search.next(0), await search.previous(9, 1_000), search.found]).toEqual([null, null, []]);
  });

  it('counts no more than it has to, and still goes on and back at the end of millions of matches', async () => {
    const yard = yardOf(3_000_000, () => true);
    const search = await searching(yard);
    expect([search.found.length, search.complete]).toEqual([mostCounted, false]);
    yard.calls.length = 0;
    expect(await search.next(2_500_000)).toBe(2_500_001);
    expect(await search.previous(2_500_000, 3_000_000)).toBe(2_499_999);
    expect(yard.calls.length).toBeLessThan(5);
  });

  it('goes back over a long way without a match', async () => {
    const yard = yardOf(3_000_000, (line) => line < 20_000 || line === 2_000_000);
    const search = await searching(yard);
    expect(await search.previous(2_900_000, 3_000_000)).toBe(2_000_000);
    expect(await search.previous(2_000_000, 3_000_000)).toBe(19_999);
  });

  it('looks at what was appended', async () => {
    const yard = yardOf(1_000, (line) => line % 100 === 50);
    const search = await searching(yard);
    yard.grow(100);
    await search.grown();
    expect([search.found.length, search.found[10]]).toEqual([11, 1_050]);
  });

  it('forgets an answer for a text that is no longer looked for', async () => {
    const search = new LogSearch(yardOf(1_000, (line) => line % 100 === 50).search, () => {});
    search.set('old', plain);
    search.set('', plain);
    await Promise.resolve();
    await new Promise((resolve) => setTimeout(resolve));
    expect([search.found, search.counting]).toEqual([[], false]);
  });

  it('keeps what went wrong, as a pattern that is none', async () => {
    const search = new LogSearch(() => Promise.reject(new Error('no pattern')), () => {});
    search.set('(', { regex: true, matchCase: false });
    await vi.waitFor(() => expect(search.problem).toBeInstanceOf(Error));
    expect(search.counting).toBe(false);
  });
});

describe('marks within a line', () => {
  const marked = (text: string, q: string, options = plain) => markRanges(text, markPattern(q, options)!);

  it('are where the text is, whatever its signs and letters', () => {
    expect(marked('a.b A.B axb', 'a.b')).toEqual([[0, 3], [4, 7]]);
    expect(marked('Loss loss', 'loss', { regex: false, matchCase: true })).toEqual([[5, 9]]);
    expect(marked('x-y [1] {2} \\ /', '-y [1] {2} \\ /')).toEqual([[1, 15]]);
    expect(marked('任务 42', '任务')).toEqual([[0, 2]]);
  });

  it('are left to the yard where a browser could think for ever', () => {
    for (const q of ['(a+)+$', '(a|a)*b', '.*.*.*x', '(x{1,9}){1,9}', '(']) expect(markPattern(q, { regex: true, matchCase: false }), q).toBeNull();
    expect(marked('step 12', '\\d+', { regex: true, matchCase: false })).toEqual([[5, 7]]);
  });
});

describe('hostile text', () => {
  const shown = (text: string) => pieces(text, 0, []).map((piece) => (piece.kind === 'control' ? `<${piece.text}>` : piece.text)).join('');

  it('has signs for what would hide or turn it around', () => {
    expect(shown('a\u202egnp.exe')).toBe('a<RLO>gnp.exe');
    expect(shown('a\0b\x1bc\x7f\x9b\u2066\u200f\ufeff')).toBe('a<^@>b<^[>c<^?><9B><LRI><RLM><BOM>');
  });
  it('keeps emoji, accents and tabs whole', () => {
    expect(shown('👩‍🚀 é\tمرحبا')).toBe('👩‍🚀 é\tمرحبا');
  });
  it('is marked across what is before it in the line', () => {
    expect(pieces('world', 6, [[8, 10]])).toEqual([
      { text: 'wo', kind: 'plain' },
      { text: 'rl', kind: 'mark' },
      { text: 'd', kind: 'plain' },
    ]);
  });
  it('counts wide letters as two columns', () => {
    expect([columnsOf('abc'), columnsOf('任务'), columnsOf('a任👍')]).toEqual([3, 4, 5]);
  });
});
