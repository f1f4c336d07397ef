import { describe, expect, it } from 'vitest';
import { lineLook } from '@/lib/colors';
import { nearest, wholeRange, within, type ChartLine, type ScaleKind, type Trace } from './line';
import { extentOf, linearScale, scaleFor, xScaleFor } from './scale';
import { lastValue, nextPoint, odditiesOf, readingsAt, summaryOf, tableOf } from './summary';
import { xTicks, yTicks } from './ticks';
import { markPlaces, trace, type Area } from './trace';

const area: Area = { left: 0, top: 0, width: 100, height: 100 };

function lineOf(ys: number[], more: Partial<Trace> & { xs?: number[]; label?: string } = {}): ChartLine {
  const { xs = ys.map((_, i) => i), label = 'loss', ...rest } = more;
  return { key: label, label, look: lineLook(0, 'dark'), points: { x: Float64Array.from(xs), y: Float64Array.from(ys), ...rest } };
}
const frameOf = (lines: ChartLine[], kind: ScaleKind = 'linear') => {
  const x = xScaleFor(wholeRange(lines));
  return { x, y: scaleFor(kind, extentOf(lines, { from: x.from, to: x.to })) };
};

/** What a pen did, as text: M and L with whole pixels, • for a dot. */
function drawn(line: ChartLine, kind: ScaleKind = 'linear'): string {
  const did: string[] = [];
  const at = (x: number, y: number) => `${Math.round(x)},${Math.round(y)}`;
  trace(line.points, frameOf([line], kind), area, {
    moveTo: (x, y) => did.push(`M${at(x, y)}`),
    lineTo: (x, y) => did.push(`L${at(x, y)}`),
    dot: (x, y) => did.push(`•${at(x, y)}`),
  });
  return did.join(' ');
}

describe('the way of a curve', () => {
  it('is broken by NaN and goes on behind it', () => {
    expect(drawn(lineOf([0, 1, NaN, 1, 0])).replace(/\d+,\d+/g, '')).toBe('M L M L');
  });

  it('is a dot where a point has no neighbour', () => {
    expect(drawn(lineOf([NaN, 0.4, NaN]))).toBe('•50,50');
    expect(drawn(lineOf([0.4]))).toBe('•50,50');
  });

  it('joins every fifth point of a sparse curve with nothing', () => {
    const sparse = lineOf(Array.from({ length: 50 }, (_, i) => (i % 5 ? NaN : 1)));
    expect(drawn(sparse).replace(/\d+,\d+/g, '')).toBe(Array(10).fill('•').join(' '));
    expect(odditiesOf(sparse, null).nan).toBe(40);
  });

  it('never runs to an infinity', () => {
    expect(drawn(lineOf([0, 1, Infinity, 1, 0])).replace(/\d+,\d+/g, '')).toBe('M L M L');
  });

  it('is flat for a constant, in the middle of a padded axis', () => {
    const flat = lineOf([1e-4, 1e-4, 1e-4 + 1e-20, 1e-4]);
    expect(drawn(flat).match(/,(\d+)/g)).toEqual([',50', ',50', ',50', ',50']);
    expect(frameOf([flat]).y.to / 1e-4).toBeCloseTo(1.1);
  });

  it('keeps a spike of one point', () => {
    const spiky = lineOf(Array.from({ length: 1000 }, (_, i) => (i === 500 ? 100 : 1)));
    expect(drawn(spiky).match(/,5 /g)).toHaveLength(1); // the top, less its air
  });

  it('reaches to the point beyond either edge when zoomed in', () => {
    const line = lineOf([0, 10, 20, 30, 40, 50]);
    const range = { from: 2.2, to: 3.8 };
    const xs: number[] = [];
    const note = (x: number) => void xs.push(x);
    trace(line.points, { x: xScaleFor(range), y: linearScale(0, 50) }, area, { moveTo: note, lineTo: note, dot: note });
    expect(xs.length).toBe(3);
    expect(xs[0]).toBeLessThan(0);
    expect(xs[2]).toBeGreaterThan(100);
  });
});

describe('marks', () => {
  it('stand on the axis for NaN and at the edges for infinities', () => {
    const line = lineOf([NaN, Infinity, -Infinity, 1, 2]);
    const kinds = markPlaces(line, frameOf([line]), area).map((place) => place.kind);
    expect(kinds).toEqual(['nan', 'above', 'below']);
  });

  it('come from the yard where it gave them, also for points that were left out', () => {
    const marks = { x: Float64Array.of(0.5, 3), kind: Float64Array.of(1, 2) };
    const line = lineOf([1, 2, 3, 4], { marks, exact: false });
    expect(markPlaces(line, frameOf([line]), area)).toEqual([{ x: 17, kind: 'nan' }, { x: 100, kind: 'above' }]);
    expect(odditiesOf(line, null)).toMatchObject({ nan: 1, infinite: 1, atLeast: true });
  });

  it('are one for a pixel', () => {
    const line = lineOf(Array(10_000).fill(NaN));
    expect(markPlaces(line, frameOf([line]), area).length).toBeLessThanOrEqual(101);
  });
});

describe('a y scale', () => {
  const hostile: [string, number[]][] = [
    ['nothing', []],
    ['one value', [3]],
    ['all zero', [0, 0, 0]],
    ['all equal', [7, 7, 7]],
    ['only NaN', [NaN, NaN]],
    ['only infinities', [Infinity, -Infinity]],
    ['an empty first value', [NaN, 1, 2]],
    ['zeros among values', [0, 0.1, 1]],
    ['negative values', [-5, -1, -0.1]],
    ['the largest numbers', [-Number.MAX_VALUE, Number.MAX_VALUE]],
    ['the largest number alone', [Number.MAX_VALUE, Number.MAX_VALUE]],
    ['the smallest numbers', [Number.MIN_VALUE, 1e-320, 5e-324]],
    ['every size', [1e-300, 1, 1e300]],
    ['far from zero and near to each other', [1e15, 1e15 + 1]],
    ['both signs of every size', [-1e200, -1e-200, 1e-200, 1e200]],
  ];
  it.each(hostile)('has places for %s, and few ticks, on every kind of axis', (_, ys) => {
    for (const kind of ['linear', 'log', 'symlog'] as const) {
      const scale = frameOf([lineOf(ys)], kind).y;
      for (const y of ys.filter(Number.isFinite)) {
        expect(scale.place(y), `${kind} ${y}`).toBeGreaterThanOrEqual(-1e-9);
        expect(scale.place(y), `${kind} ${y}`).toBeLessThanOrEqual(1 + 1e-9);
      }
      const ticks = yTicks(scale, 6);
      expect(ticks.length, kind).toBeLessThan(101);
      for (const tick of ticks) expect(Number.isFinite(tick.place), `${kind} ${tick.label}`).toBe(true);
      expect(ticks.filter((tick) => tick.label).length, kind).toBeLessThan(22);
    }
  });

  it('finds back the value of a place', () => {
    for (const kind of ['linear', 'log', 'symlog'] as const) {
      const { y } = frameOf([lineOf([0.003, 2, 700])], kind);
      for (const value of [0.003, 0.5, 700]) expect(y.valueAt(y.place(value)) / value).toBeCloseTo(1);
    }
  });

  it('starts at zero rather than below it when nothing is negative', () => {
    expect(frameOf([lineOf([0.01, 3])]).y.from).toBe(0);
    expect(frameOf([lineOf([-0.01, 3])]).y.from).toBeLessThan(-0.01);
  });

  it('puts what no logarithm has on a floor below everything, named', () => {
    const { y } = frameOf([lineOf([0, -3, 0.1, 1])], 'log');
    expect(y.place(0)).toBe(y.place(-3));
    expect(y.place(0)).toBeLessThan(y.place(0.1));
    expect(yTicks(y, 6)[0]).toEqual({ place: y.floor / 2, label: '≤ 0' });
    expect(odditiesOf(lineOf([0, -3, 0.1, 1]), null).notAbove0).toBe(2);
    expect(frameOf([lineOf([0.1, 1])], 'log').y.floor).toBe(0);
  });

  it('is a true logarithm: equal factors are equally far apart', () => {
    const { y } = frameOf([lineOf([1e-4, 1])], 'log');
    expect(y.place(1e-3) - y.place(1e-4)).toBeCloseTo(y.place(1e-1) - y.place(1e-2));
  });

  it('looks only at what is in sight, and at where the line goes when no point is', () => {
    const line = lineOf([1000, 1, 2, 1000]);
    expect(extentOf([line], { from: 1, to: 2 }).most).toBe(2);
    expect(extentOf([line], { from: 0.2, to: 0.8 })).toMatchObject({ least: 1, most: 1000 });
  });

  it('leaves room for the smoothed line', () => {
    const smooth = { x: Float64Array.of(0, 1), y: Float64Array.of(5, 9) };
    expect(extentOf([lineOf([1, 2], { smooth })], { from: 0, to: 1 }).most).toBe(9);
  });
});

describe('ticks', () => {
  const labels = (from: number, to: number, most = 5) => yTicks(linearScale(from, to), most).map((tick) => tick.label);

  it('are two at least, whatever small chart and odd range there is', () => {
    expect(xTicks('step', linearScale(23, 437), 2, 'en').map((tick) => tick.label)).toEqual(['200', '400']);
    expect(xTicks('step', linearScale(1, 552), 2, 'en').map((tick) => tick.label)).toEqual(['200', '400']);
    expect(xTicks('step', linearScale(0, 2000), 2, 'en').map((tick) => tick.label)).toEqual(['0', '1000', '2000']);
    for (let from = 0; from < 50; from++)
      for (let to = from + 3; to < from + 900; to += 7) expect(xTicks('step', linearScale(from, to), 2, 'en').length, `${from} to ${to}`).toBeGreaterThanOrEqual(2);
  });

  it('have as many digits as they need', () => {
    expect(labels(0, 1)).toEqual(['0', '0.2', '0.4', '0.6', '0.8', '1.0']);
    expect(labels(0.91, 0.93, 4)).toEqual(['0.910', '0.915', '0.920', '0.925', '0.930']);
    expect(labels(-100, 100, 4)).toEqual(['−100', '−50', '0', '50', '100']);
    expect(labels(0, 20_000, 4)).toEqual(['0', '5000', '10,000', '15,000', '20,000']);
    expect(labels(0, 1e-7, 5)).toEqual(['0', '2e-8', '4e-8', '6e-8', '8e-8', '1e-7']);
  });

  it('are powers of ten on a log axis', () => {
    const ticks = yTicks(frameOf([lineOf([1e-5, 1])], 'log').y, 6);
    expect(ticks.filter((tick) => tick.label).map((tick) => tick.label)).toEqual(['1e-5', '1e-4', '0.001', '0.01', '0.1', '1']);
  });

  it('differ from each other within one power of ten', () => {
    const ticks = yTicks(frameOf([lineOf([2.1, 2.6])], 'log').y, 5).map((tick) => tick.label);
    expect(ticks.length).toBeGreaterThan(2);
    expect(new Set(ticks).size).toBe(ticks.length);
  });

  it('fall on whole steps, whole minutes and days', () => {
    expect(xTicks('step', linearScale(0, 10), 20, 'en').map((tick) => tick.label)).toEqual(['0', ...'123456789'.split(''), '10']);
    expect(xTicks('elapsed', linearScale(0, 7200), 5, 'en').map((tick) => tick.label)).toEqual(['0', '30 min', '1 h', '1 h 30 min', '2 h']);
    expect(xTicks('elapsed', linearScale(0, 7200), 5, 'zh')[1]!.label).toBe('30 分钟');
    const noon = new Date(2026, 10, 30, 12).getTime() / 1000;
    expect(xTicks('time', linearScale(noon, noon + 3600), 4, 'en').map((tick) => tick.label)).toEqual(['12:00', '12:15', '12:30', '12:45', '13:00']);
    expect(xTicks('time', linearScale(noon, noon + 86_400), 4, 'en').map((tick) => tick.label)).toContain('1 Dec');
  });

  it('tell moments apart that lie deep within a long run', () => {
    const deep = xTicks('elapsed', linearScale(93_600, 93_610), 5, 'en').map((tick) => tick.label);
    expect(new Set(deep).size).toBe(deep.length);
    expect(deep[0]).toBe('26:00:00');
  });

  it('are few whatever the numbers are', () => {
    for (const kind of ['step', 'time', 'elapsed'] as const)
      for (const [from, to] of [[0, 1e300], [-1e300, 1e300], [1e17, 1e17 + 64], [0, 1e-300]] as const)
        expect(xTicks(kind, linearScale(from, to), 8, 'en').length, `${kind} ${from}..${to}`).toBeLessThan(101);
  });
});

describe('lookups', () => {
  const xs = Float64Array.of(1, 2, 2, 5);

  it('find ranges with both ends, and the nearest point', () => {
    expect(within(xs, { from: 2, to: 5 })).toEqual([1, 4]);
    expect(within(xs, { from: 6, to: 9 })).toEqual([4, 4]);
    expect([nearest(xs, -9), nearest(xs, 3.4), nearest(xs, 3.6), nearest(xs, 99), nearest(new Float64Array(), 1)]).toEqual([0, 2, 3, 3, -1]);
  });

  it('read every line at the cursor, largest first and NaN last', () => {
    const lines = [lineOf([1, 1], { label: 'low' }), lineOf([NaN, NaN], { label: 'none' }), lineOf([9, 9], { label: 'high' })];
    expect(readingsAt(lines, 1.2, 5).map((reading) => reading.line.label)).toEqual(['high', 'low', 'none']);
    expect(readingsAt(lines, 40, 5)).toEqual([]);
  });

  it('step from point to point of any line, and stop at the edge', () => {
    const lines = [lineOf([1, 1], { xs: [0, 10] }), lineOf([1, 1], { xs: [4, 12] })];
    const range = { from: 0, to: 11 };
    expect([nextPoint(lines, 0, 1, range), nextPoint(lines, 4, 1, range), nextPoint(lines, 10, 1, range)]).toEqual([4, 10, null]);
    expect([nextPoint(lines, 10, -1, range), nextPoint(lines, 0, -1, range)]).toEqual([4, null]);
  });

  it('sum a line up', () => {
    expect(summaryOf(lineOf([3, NaN, 1, 2]), { from: 0, to: 3 })).toMatchObject({ points: 4, first: 3, last: 2, least: 1, most: 3 });
    expect(lastValue(lineOf([3, NaN]))).toBe(3);
  });

  it('lay several lines out as one table, evenly thinned where it would be too long', () => {
    const lines = [lineOf([1, 2], { xs: [0, 2] }), lineOf([3, 4], { xs: [1, 2] })];
    expect(tableOf(lines, { from: 0, to: 9 }, 100)).toEqual({
      rows: [{ x: 0, values: [1, null] }, { x: 1, values: [null, 3] }, { x: 2, values: [2, 4] }],
      left: 0,
    });
    const long = tableOf([lineOf(Array(1000).fill(1))], { from: 0, to: 999 }, 5);
    expect([long.rows.map((row) => row.x), long.left]).toEqual([[0, 250, 500, 749, 999], 995]);
  });
});
