import { describe, expect, it } from 'vitest';
import type { Problem } from '@/lib/api';
import { emptyDraft, type Draft } from './draft';
import { fieldOf, refusalByField, specOf } from './spec';

const now = new Date('2026-11-30T12:00:00Z');
const draft = (change: Partial<Draft>): Draft => ({ ...emptyDraft, command: 'python train.py', folder: '/home/ann/run', ...change });
const made = (change: Partial<Draft>, environment: Record<string, string> | null = null) => {
  const built = specOf(draft(change), environment, now);
  if ('faults' in built) throw new Error(JSON.stringify(built.faults));
  return built.spec;
};
const faults = (change: Partial<Draft>, lenient = false) => {
  const built = specOf(draft(change), null, now, { lenient });
  return 'faults' in built ? built.faults.map(({ field, fault }) => `${field}: ${fault}`) : [];
};

describe('the task of a draft', () => {
  it('has nothing that was not said', () => {
    expect(made({})).toEqual({ command: ['python', 'train.py'], workdir: '/home/ann/run' });
  });
  it('says every field', () => {
    const spec = made({
      name: ' run one ',
      devices: '2',
      ranks: true,
      share: 'turns',
      part: '0.5',
      slice: '30s',
      gpuMemory: '24G',
      priority: 'number',
      priorityNumber: '50',
      after: [{ task: 7, name: 'prepare', on: 'any' }],
      begin: '2026-12-01T08:00:00Z',
      time: '90m',
      retry: '3',
      tags: 'a, b c,,d',
      hold: true,
      variables: [{ name: 'LR', value: '0.1' }],
    });
    expect(spec).toEqual({
      command: ['python', 'train.py'],
      workdir: '/home/ann/run',
      name: 'run one',
      resources: { gpus: 2, share: '0.5:turns:30s', gpu_memory: '24G' },
      ranks: true,
      priority: '50',
      after: [{ task: 7, on: 'any' }],
      begin: '2026-12-01T08:00:00.000Z',
      limits: { time: '90m' },
      retry: { max: 3 },
      tags: ['a', 'b c', 'd'],
      hold: true,
      variables: { LR: '0.1' },
    });
  });
  it('hands on what the yard judges better, as it was typed', () => {
    expect(made({ devices: '{1,2,4}', retry: '1.5', gpuMemory: 'much' })).toMatchObject({ resources: { gpus: '{1,2,4}', gpu_memory: 'much' }, retry: { max: '1.5' } });
  });
  it('keeps the settings without a field, beside those with one', () => {
    const kept = { limits: { idle: 600 }, resources: { exclusive: true }, retry: { on: 'any' as const }, umask: '0027' };
    expect(made({ kept, time: '1h', devices: '1', retry: '2' })).toMatchObject({ limits: { idle: 600, time: '1h' }, resources: { exclusive: true, gpus: 1 }, retry: { on: 'any', max: 2 }, umask: '0027' });
  });
  it('takes the shell of another task, less what is masked', () => {
    expect(made({ environmentOf: 12 }, { PATH: '/bin', HF_TOKEN: '***' }).environment).toEqual({ variables: { PATH: '/bin' } });
    expect(made({ environmentOf: null }, { PATH: '/bin' }).environment).toBeUndefined();
  });
  it('carries a variable of any name', () => {
    const spec = made({ variables: [{ name: '__proto__', value: 'x' }] });
    expect(JSON.stringify(spec.variables)).toBe('{"__proto__":"x"}');
  });
});

describe('a draft that cannot be sent', () => {
  it('says what is missing, all at once', () => {
    expect(faults({ command: ' ', folder: '', begin: 'soon' })).toEqual(['command: command_missing', 'folder: folder_missing', 'begin: begin']);
  });
  it('says which quote is open', () => {
    expect(faults({ command: "python 'a" })).toEqual(['command: command_quote']);
  });
  it('looks at names and values of variables', () => {
    expect(faults({ variables: [{ name: 'A=B', value: '' }] })).toEqual(['variables: variable_name']);
    expect(faults({ variables: [{ name: '', value: 'x' }] })).toEqual(['variables: variable_name']);
    expect(faults({ variables: [{ name: 'A', value: '1' }, { name: 'A', value: '2' }] })).toEqual(['variables: variable_twice']);
    expect(faults({ variables: [{ name: '', value: '' }] })).toEqual([]);
  });
  it('wants a secret typed again before it is sent, not before it is previewed', () => {
    const variables = [{ name: 'HF_TOKEN', value: '', masked: true }];
    expect(faults({ variables })).toEqual(['variables: variable_masked']);
    expect(faults({ variables }, true)).toEqual([]);
  });
});

describe('a refusal of the yard', () => {
  it.each([
    ['/command', 'command'],
    ['/command/0', 'command'],
    ['/workdir', 'folder'],
    ['/resources/gpus', 'devices'],
    ['/resources/gpus/1', 'devices'],
    ['/resources/share', 'share'],
    ['/resources/gpu_memory', 'gpu_memory'],
    ['/resources/exclusive', 'kept'],
    ['/limits/time', 'time'],
    ['/limits/idle', 'kept'],
    ['/retry/max', 'retry'],
    ['/after/0/task', 'after'],
    ['/variables/A~1B', 'variables'],
    ['/environment/variables/X', 'environment'],
    ['/priority', 'priority'],
    ['/begin', 'begin'],
    ['/tags/1', 'tags'],
    ['/checkpoint/signal', 'kept'],
    ['', null],
    ['/name_of_nothing', null],
    ['Idempotency-Key', null],
  ])('at %s stands at the field %s', (pointer, field) => {
    expect(fieldOf(pointer)).toBe(field);
  });
  it('may name several fields', () => {
    const one = (field: string, detail: string) => ({ field, detail }) as Problem;
    const said = refusalByField({ ...one('', 'all'), errors: [one('/name', 'a name'), one('/name', 'again'), one('/name', 'again'), one('/workdir', 'a folder')] });
    expect([...said]).toEqual([['name', 'a name\nagain'], ['folder', 'a folder']]);
    expect([...refusalByField(one('', 'the queue is full'))]).toEqual([[null, 'the queue is full']]);
  });
});
