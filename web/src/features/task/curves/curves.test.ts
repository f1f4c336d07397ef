import { describe, expect, it } from 'vitest';
import type { Points } from '@/lib/points';
import { stateOf, type Series } from '../api';
import { linesOf } from './lines';
import { findGroups, giveSlots, groupTags, labelOf, splitTag } from './tags';
import { firstView, keepView, keptView, viewOf, writeView } from './view';

const groups = (...tags: string[]) => groupTags(tags).map(({ title, tags }) => `${title}: ${tags.join(' ')}`);

describe('metrics', () => {
  it('of the same measure share a chart, however their parts are written', () => {
    expect(groups('train/loss', 'val/loss')).toEqual(['loss: train/loss val/loss']);
    expect(groups('train_loss', 'val_loss')).toEqual(['loss: train_loss val_loss']);
    expect(groups('val_loss', 'loss')).toEqual(['loss: loss val_loss']);
    expect(groups('Loss/test', 'Loss/train')).toEqual(['Loss: Loss/train Loss/test']);
    expect(groups('eval_loss', 'loss')).toEqual(['loss: loss eval_loss']);
  });
  it('that stand alone keep their whole names', () => {
    expect(groups('train/loss', 'val/acc')).toEqual(['train/loss: train/loss', 'val/acc: val/acc']);
    expect(groups('trainable', 'test', 'latest_loss')).toEqual(['latest_loss: latest_loss', 'test: test', 'trainable: trainable']);
  });
  it('stand with losses first and learning rates last, numbers in order', () => {
    expect(groupTags(['lr', 'layer.10', 'layer.2', 'acc', 'mse', 'loss', 'step_time']).map(({ title }) => title)).toEqual(['loss', 'mse', 'acc', 'layer.2', 'layer.10', 'lr', 'step_time']);
  });
  it('may have any name', () => {
    for (const tag of ['', '/', 'train/', '/loss', 'a\nb', '__proto__', '实验/损失', '<b>']) expect(groupTags([tag])).toEqual([{ title: tag, tags: [tag] }]);
    expect(splitTag('train/loss')).toEqual({ measure: 'loss', part: 'train' });
  });
  it('are called by their part within a chart, by all of their name where that is not enough', () => {
    const [one] = groupTags(['train/loss', 'val/loss']);
    expect(one!.tags.map((tag) => labelOf(tag, one!))).toEqual(['train', 'val']);
    const [two] = groupTags(['val/loss', 'val_loss', 'loss']);
    expect(two!.tags.map((tag) => labelOf(tag, two!))).toEqual(['loss', 'val_loss', 'val/loss']);
  });
  it('are found by every word', () => {
    const all = groupTags(['layer.1/grad', 'layer.2/grad', 'loss']);
    expect(findGroups(all, ' GRAD 2').map(({ title }) => title)).toEqual(['layer.2/grad']);
    expect(findGroups(all, ' ')).toHaveLength(3);
  });
});

describe('colours', () => {
  it('differ within a chart', () => {
    const given = new Map<string, number>();
    const group = { title: 'x', tags: Array.from({ length: 20 }, (_, at) => `tag${at}`) };
    giveSlots(group, given);
    expect(new Set(given.values()).size).toBe(20);
  });
  it('stay when another metric comes, even before the others', () => {
    const given = new Map<string, number>();
    giveSlots(groupTags(['val/loss', 'train/loss'])[0]!, given);
    const before = new Map(given);
    giveSlots(groupTags(['val/loss', 'train/loss', 'loss', 'eval/loss', 'dev/loss'])[0]!, given);
    for (const [tag, slot] of before) expect(given.get(tag)).toBe(slot);
    expect(new Set(given.values()).size).toBe(5);
  });
});

describe('the view of curves', () => {
  const round = (view: typeof firstView) => viewOf(writeView(view, new URLSearchParams()), firstView);
  it('comes back from the address as it was', () => {
    const view = { x: 'time', scale: 'symlog', smooth: 0.6, older: false, from: -1.5, to: 1e9, find: 'a&b', only: ['train/loss', 'c=d'] } as const;
    expect(round({ ...view, only: [...view.only] })).toEqual(view);
    expect(writeView(firstView, new URLSearchParams('line=3&x=time')).toString()).toBe('line=3');
  });
  it('does not believe an address', () => {
    expect(viewOf(new URLSearchParams('x=mass&scale=none&smooth=7&from=9&to=3&older=maybe'), firstView)).toEqual({ ...firstView, smooth: 0.99 });
    expect(viewOf(new URLSearchParams('smooth=NaN&from=&to=4'), firstView)).toEqual(firstView);
  });
  it('is kept as to how, not as to where', () => {
    keepView({ ...firstView, smooth: 0.9, x: 'elapsed', from: 1, to: 2, find: 'x', only: ['a'] });
    expect(keptView()).toEqual({ ...firstView, smooth: 0.9, x: 'elapsed' });
    localStorage.clear();
    expect(keptView()).toEqual(firstView);
  });
});

describe('the lines of a chart', () => {
  const part = (attempt: number, nan = 0) => ({ attempt, points: 2, first_step: 0, last_step: 1, last: 1, least: 0, most: 1, nan, inf: 0 });
  const curve = { x: Float64Array.of(0, 1), y: Float64Array.of(1, 2) };
  const given = (attempt: number) => ({ attempt, points: 2, exact: true, ...curve, marks: { x: new Float64Array(), kind: new Float64Array() }, smooth: { x: new Float64Array(), y: new Float64Array() } });
  const series: Series = { tag: 'loss', parts: [part(1, 3), part(2)] };
  const points: Points = { tag: 'loss', x: 'step', version: 1, parts: [given(1), given(2)] };
  const lines = (older: boolean, zoomed = false) => linesOf([{ series, label: 'loss', look: { color: '#000', dash: [] }, points }], older, zoomed, (label, run) => `${label} ${run}`);
  it('have the newest run strong and older ones faint', () => {
    expect(lines(true).map(({ label, faint }) => [label, faint])).toEqual([['loss', false], ['loss 1', true]]);
    expect(lines(false).map(({ label }) => label)).toEqual(['loss']);
  });
  it('say how many values are not finite, of all of them only where all are shown', () => {
    expect(lines(true)[1]!.counts).toEqual({ nan: 3, infinite: 0 });
    expect(lines(true, true)[1]!.counts).toBeUndefined();
  });
  it('wait for points that are not there yet', () => {
    expect(linesOf([{ series, label: 'loss', look: { color: '#000', dash: [] }, points: undefined }], true, false, (label) => label)).toEqual([]);
  });
  it('are asked for again when the metric grew, and only then', () => {
    expect(stateOf(series)).toBe(stateOf(structuredClone(series)));
    expect(stateOf({ ...series, parts: [part(1, 3), { ...part(2), points: 3 }] })).not.toBe(stateOf(series));
    expect(stateOf({ ...series, parts: [part(1, 4), part(2)] })).not.toBe(stateOf(series));
  });
});
