import { describe, expect, it } from 'vitest';
import { decodePoints, mark, type Points } from './points';

interface Told {
  attempt?: number;
  xy: [number, number][];
  marks?: [number, number][];
  smooth?: [number, number][];
  says?: Record<string, unknown>; // instead of the truth
}

/** A body as the yard writes it, byte by byte. */
function bodyOf(parts: Told[], head: Record<string, unknown> = {}): Uint8Array<ArrayBuffer> {
  const header = JSON.stringify({
    tag: 'loss',
    x: 'step',
    version: 830,
    parts: parts.map(({ attempt = 1, xy, marks = [], smooth = [], says }) => ({
      attempt,
      points: xy.length,
      given: xy.length,
      marks: marks.length,
      smooth: smooth.length,
      exact: true,
      ...says,
    })),
    ...head,
  });
  const text = new TextEncoder().encode(header);
  const padded = new Uint8Array(Math.ceil(text.length / 8) * 8).fill(0x20);
  padded.set(text);
  const numbers = parts.flatMap(({ xy, marks = [], smooth = [] }) =>
    [xy, marks, smooth].flatMap((pairs) => [...pairs.map((pair) => pair[0]), ...pairs.map((pair) => pair[1])]),
  );
  const bytes = new Uint8Array(8 + padded.length + numbers.length * 8);
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode('TYP1'));
  view.setUint32(4, padded.length, true);
  bytes.set(padded, 8);
  numbers.forEach((number, i) => view.setFloat64(8 + padded.length + i * 8, number, true));
  return bytes;
}

const read = (bytes: ArrayBuffer | Uint8Array) => decodePoints(bytes) as Points;

describe('points', () => {
  const whole = bodyOf([
    { attempt: 1, xy: [[0, 1], [1, NaN], [2, Infinity]], marks: [[1, 1], [2, 2]], smooth: [[0, 1]] },
    { attempt: 2, xy: [[1, 0.5]] },
  ]);

  it('gives every part its own numbers, with NaN and infinities as they are', () => {
    const { tag, version, parts } = read(whole);
    expect([tag, version, parts.length]).toEqual(['loss', 830, 2]);
    expect([...parts[0]!.x]).toEqual([0, 1, 2]);
    expect([...parts[0]!.y]).toEqual([1, NaN, Infinity]);
    expect([...parts[0]!.marks.kind]).toEqual([mark.nan, mark.plusInfinity]);
    expect([...parts[0]!.smooth.y]).toEqual([1]);
    expect([parts[1]!.attempt, parts[1]!.x[0], parts[1]!.y[0], parts[1]!.smooth.x.length]).toEqual([2, 1, 0.5, 0]);
  });

  it('looks into the body instead of copying it', () => {
    expect(read(whole.buffer).parts[0]!.x.buffer).toBe(whole.buffer);
  });

  it('reads a body that begins at an odd byte of something larger', () => {
    const larger = new Uint8Array(whole.length + 3);
    larger.set(whole, 3);
    expect([...read(larger.subarray(3)).parts[0]!.x]).toEqual([0, 1, 2]);
  });

  it('is a fault at every length but its own', () => {
    for (let length = 0; length < whole.length; length++) expect(decodePoints(whole.slice(0, length))).toHaveProperty('fault');
    const longer = new Uint8Array(whole.length + 8);
    longer.set(whole);
    expect(decodePoints(longer)).toEqual({ fault: 'longer than its parts' });
  });

  it('refuses another format, a header that is no JSON, and a header length beyond the end', () => {
    const other = whole.slice();
    other[3] = 0x32;
    expect(decodePoints(other)).toHaveProperty('fault');
    const broken = whole.slice();
    broken[8] = 0x2c;
    expect(decodePoints(broken)).toEqual({ fault: 'its header is not JSON' });
    const far = whole.slice();
    new DataView(far.buffer).setUint32(4, 0xfffffff8, true);
    expect(decodePoints(far)).toEqual({ fault: 'shorter than its header' });
  });

  it.each([
    ['a negative count', { given: -1 }],
    ['half a count', { given: 0.5 }],
    ['a count beyond every memory', { given: 2 ** 53 }],
    ['a count that is larger than the body', { given: 2 ** 40 }],
    ['a count of text', { marks: '1' }],
    ['no word on exactness', { exact: null }],
  ])('refuses a part with %s', (_, says) => {
    expect(decodePoints(bodyOf([{ xy: [[0, 1]], says }]))).toHaveProperty('fault');
  });

  it.each([[{ tag: 7 }], [{ version: -1 }], [{ parts: 'none' }], [{ parts: [null] }]])('refuses the header %o', (head) => {
    expect(decodePoints(bodyOf([], head))).toHaveProperty('fault');
  });

  it('puts x in order that was not, and leaves out points at no x', () => {
    const { parts } = read(bodyOf([{ xy: [[3, 30], [1, 10], [NaN, 0], [2, 20]] }]));
    expect([...parts[0]!.x, ...parts[0]!.y]).toEqual([1, 2, 3, 10, 20, 30]);
  });

  it('reads an answer without points', () => {
    expect(read(bodyOf([])).parts).toEqual([]);
  });
});
