import { beforeEach, describe, expect, it } from 'vitest';
import { readBegin, readLength } from './begin';
import { differences, emptyDraft, forgetDraft, keepDraft, keptDraft, withFieldOf } from './draft';
import { freshKey } from './useSubmit';
import { readVariables } from './variables';

describe('a kept draft', () => {
  beforeEach(() => localStorage.clear());
  it('comes back as it was typed, without the values of variables', () => {
    keepDraft({ ...emptyDraft, command: ' python  a.py ', variables: [{ name: 'HF_TOKEN', value: 'hf_x' }] });
    expect(JSON.stringify({ ...localStorage })).not.toContain('hf_x');
    expect(keptDraft()).toMatchObject({ command: ' python  a.py ', variables: [{ name: 'HF_TOKEN', value: '', masked: true }] });
    forgetDraft();
    expect(keptDraft()).toBe(null);
  });
  it('gives up what is damaged', () => {
    localStorage.setItem('trainyard.draft', '{"command": 7, "folder": "/x", "after": [{"task": "1"}, {"task": 2, "name": "b", "on": "ok"}], "variables": [null, {"name": "A"}], "share": "all", "like": "no"}');
    expect(keptDraft()).toEqual({ ...emptyDraft, folder: '/x', after: [{ task: 2, name: 'b', on: 'ok' }], variables: [{ name: 'A', value: '', masked: true }] });
    for (const broken of ['{', '[]', 'null', '7']) {
      localStorage.setItem('trainyard.draft', broken);
      expect(keptDraft()).toBe(null);
    }
  });
});

describe('what differs from the task it came from', () => {
  it('is known by field, and put back by field', () => {
    const base = { ...emptyDraft, devices: '2', share: 'turns' as const };
    const changed = { ...base, devices: '4', part: '0.25' };
    expect([...differences(changed, base)]).toEqual(['devices', 'share']);
    expect([...differences(withFieldOf(changed, base, 'share'), base)]).toEqual(['devices']);
  });
});

describe('not before', () => {
  const now = new Date(2026, 10, 30, 12, 0, 0);
  it.each([
    ['22:00', new Date(2026, 10, 30, 22, 0)],
    ['08:30', new Date(2026, 11, 1, 8, 30)],
    ['12:00:00', new Date(2026, 11, 1, 12, 0)],
    ['+30m', new Date(2026, 10, 30, 12, 30)],
    ['+1h30m', new Date(2026, 10, 30, 13, 30)],
    ['2026-12-01', new Date(2026, 11, 1)],
    ['2026-12-01 08:00', new Date(2026, 11, 1, 8)],
    ['2026-12-01T08:00:30', new Date(2026, 11, 1, 8, 0, 30)],
    ['2026-12-01T08:00:00Z', new Date('2026-12-01T08:00:00Z')],
    ['2026-12-01T08:00+08:00', new Date('2026-12-01T00:00:00Z')],
  ])('%s is a moment', (text, at) => {
    expect(readBegin(text, now)?.getTime()).toBe(at.getTime());
  });
  it.each(['soon', '25:00', '12:60', '2026-02-30', '2026-13-01', '+', '+x', '', '1e5', 'tomorrow'])('%s is none', (text) => {
    expect(readBegin(text, now)).toBe(null);
  });
  it('reads lengths as the yard does', () => {
    expect(['90m', '1h30m', '45s', '250ms', '2d', '02:30:00', '1-12:00:00', '7'].map(readLength)).toEqual([5400, 5400, 45, 0.25, 172_800, 9000, 129_600, 7]);
    expect(readLength('90x')).toBe(null);
  });
});

describe('pasted variables', () => {
  it('are lines of NAME=value, as .env files have them', () => {
    expect(readVariables('# keys\nexport A=1\r\nB="two words"\n\nC=a=b\nD=\'x\'y')).toEqual([
      { name: 'A', value: '1' },
      { name: 'B', value: 'two words' },
      { name: 'C', value: 'a=b' },
      { name: 'D', value: "'x'y" },
    ]);
  });
  it('are nothing else', () => {
    for (const text of ['', 'LR', '# only', 'A=1\nnonsense', '1A=2']) expect(readVariables(text)).toBe(null);
  });
});

describe('the key of a submit', () => {
  it('is another each time, also where browsers have no randomUUID', () => {
    const there = crypto.randomUUID;
    Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true });
    try {
      expect(freshKey()).toMatch(/^[0-9a-f]{32}$/);
      expect(freshKey()).not.toBe(freshKey());
    } finally {
      Object.defineProperty(crypto, 'randomUUID', { value: there, configurable: true });
    }
  });
});
