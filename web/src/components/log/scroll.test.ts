import { describe, expect, it } from 'vitest';
import { Scroller, tallest } from './scroll';

const row = 19;
function scrollerOf(total: number, viewport = 600): Scroller {
  const scroller = new Scroller(row);
  scroller.total = total;
  scroller.viewport = viewport;
  return scroller;
}
/** Moves the bar as a browser does. */
const drag = (scroller: Scroller, top: number) => scroller.scrolled(Math.max(0, Math.min(scroller.spacer - scroller.viewport, top)));
const lowest = (scroller: Scroller) => {
  const rows = scroller.rows(0);
  const last = rows[rows.length - 1]!;
  return { line: last.line, bottom: last.y + scroller.heightOf(last.line) };
};

describe('the bar of a log', () => {
  it('is as long as the log where a browser can draw that', () => {
    const scroller = scrollerOf(10_000);
    expect([scroller.exact, scroller.spacer]).toEqual([true, 190_000]);
    drag(scroller, 12_345);
    expect([scroller.line, scroller.offset, scroller.top]).toEqual([649, 14, 12_345]);
  });

  it('is never longer than a browser can draw', () => {
    expect(scrollerOf(3_000_000).spacer).toBe(tallest);
    expect(scrollerOf(10).spacer).toBe(600);
  });

  it('reaches the last of three million lines, exactly at the lower edge', () => {
    const scroller = scrollerOf(3_000_000);
    drag(scroller, Infinity);
    expect(lowest(scroller)).toEqual({ line: 2_999_999, bottom: 600 });
    expect(scroller.atEnd).toBe(true);
    drag(scroller, 0);
    expect([scroller.line, scroller.offset]).toEqual([0, 0]);
  });

  it.each([0, 1, 17, 999_999, 1_234_567, 2_999_960])('jumps to line %i of three million exactly, and the bar stands where that is', (line) => {
    const scroller = scrollerOf(3_000_000);
    scroller.toLine(line);
    expect(scroller.rows(0)[0]).toEqual({ line, y: 0 });
    const { top } = scroller;
    scroller.placed(top);
    expect(scroller.scrolled(top)).toBe(0); // the browser's own event for that changes nothing
    expect([scroller.line, scroller.offset]).toEqual([line, 0]);
  });

  it('moves by the pixel under the wheel among millions of lines, and through all of them', () => {
    const scroller = scrollerOf(3_000_000);
    scroller.toLine(1_500_000);
    scroller.placed(scroller.top);
    drag(scroller, scroller.top + 100);
    expect([scroller.line, scroller.offset]).toEqual([1_500_005, 5]);
    scroller.placed(scroller.top);
    drag(scroller, scroller.top - 100);
    expect([scroller.line, scroller.offset]).toEqual([1_500_000, 0]);
  });

  it('can be moved line by line to either end', () => {
    const scroller = scrollerOf(3_000_000);
    scroller.toLine(2_999_900);
    for (let i = 0; i < 200; i++) scroller.moveBy(row);
    expect(lowest(scroller)).toEqual({ line: 2_999_999, bottom: 600 });
    scroller.toLine(50);
    for (let i = 0; i < 100; i++) scroller.moveBy(-row);
    expect([scroller.line, scroller.offset]).toEqual([0, 0]);
  });

  it('keeps lines in sight at their place while others are appended', () => {
    for (const total of [1000, 420_000, 3_000_000]) {
      const scroller = scrollerOf(total);
      scroller.toLine(Math.floor(total / 2));
      scroller.moveBy(7);
      const before = scroller.rows(3);
      scroller.total += 100_000;
      scroller.clamp();
      expect(scroller.rows(3)).toEqual(before);
    }
  });

  it('shows a line with some of what is before it', () => {
    const scroller = scrollerOf(1000);
    scroller.toLine(500, true);
    expect(scroller.rows(0).find(({ line }) => line === 500)?.y).toBe(200);
  });

  it('gives the rows in sight and a few around', () => {
    const scroller = scrollerOf(1000);
    scroller.toLine(100);
    const rows = scroller.rows(2).map(({ line }) => line);
    expect([rows[0], rows.length]).toEqual([98, 2 + 32 + 2]);
    expect(scrollerOf(0).rows(5)).toEqual([]);
  });
});

describe('wrapped lines', () => {
  const wrapped = (total: number) => {
    const scroller = scrollerOf(total);
    scroller.wrap(() => row);
    return scroller;
  };

  it('stay where they are when a line above turns out higher than thought', () => {
    const scroller = wrapped(1000);
    scroller.toLine(500);
    scroller.moveBy(-5); // 499 comes in from above, thought to be 19 high
    const before = scroller.rows(0).find(({ line }) => line === 500)!.y;
    expect(scroller.measure(499, 95)).toBe(true);
    expect(scroller.rows(0).find(({ line }) => line === 500)!.y).toBe(before);
    expect(scroller.measure(499, 95)).toBe(false);
  });

  it('end at the lower edge, however high the last ones are', () => {
    const scroller = wrapped(1000);
    for (let line = 990; line < 1000; line++) scroller.measure(line, 190);
    scroller.toEnd();
    expect(lowest(scroller)).toEqual({ line: 999, bottom: 600 });
  });

  it('have a bar that moves, though few lines fill more than what is in sight', () => {
    const scroller = wrapped(3);
    for (let line = 0; line < 3; line++) scroller.measure(line, 900);
    expect(scroller.spacer).toBeGreaterThanOrEqual(2700);
    drag(scroller, Infinity);
    expect(lowest(scroller)).toEqual({ line: 2, bottom: 600 });
  });

  it('go by the pixel through a line higher than what is in sight', () => {
    const scroller = wrapped(10);
    scroller.measure(0, 3000);
    for (let i = 0; i < 10; i++) scroller.moveBy(100);
    expect([scroller.line, scroller.offset]).toEqual([0, 1000]);
  });

  it('jump exactly', () => {
    const scroller = wrapped(2_000_000);
    scroller.toLine(1_777_777);
    expect(scroller.rows(0)[0]).toEqual({ line: 1_777_777, y: 0 });
  });
});
