import { describe, expect, it } from 'vitest';
import type { TaskDetail } from '@/lib/api';
import { cloneOf, keptWords, lengthText } from './clone';
import { readLength } from './begin';
import { specOf } from './spec';
import { looksSecret, commandLine } from './commandLine';
import type { SpecWish } from './draft';

const now = new Date('2026-11-30T12:00:00Z');
const task = (spec: SpecWish) => ({ id: 12, name: 'made-up', spec }) as unknown as TaskDetail;

describe('a clone', () => {
  it('asks for the same again', () => {
    const spec: SpecWish = {
      name: 'sft',
      command: ['python', 'train.py', "it's", '$HOME'],
      workdir: '/home/ann/run',
      umask: '0027',
      resources: { gpus: '{1,2}', share: '0.5:turns:30s', gpu_memory: 24 * 2 ** 30, exclusive: true },
      ranks: true,
      priority: 100,
      after: [{ task: 7, on: 'fail' }],
      limits: { time: '90m', idle: 600 },
      retry: { max: 3, on: 'any', delay: 30 },
      checkpoint: { signal: 'INT' },
      tags: ['a', 'b'],
      variables: { LR: '0.1' },
    };
    const { draft, masked, damaged } = cloneOf(task(spec), now);
    const again = specOf(draft, null, now);
    expect(again).toEqual({ spec: { ...spec, priority: 'high', resources: { ...spec.resources, gpu_memory: '24G' } } });
    expect([masked, damaged]).toEqual([[], false]);
  });
  it('leaves secrets to be typed again, and the looks of the code of then', () => {
    const { draft, masked } = cloneOf(task({ command: ['a'], workdir: '/', variables: { HF_TOKEN: '***', A: 'b' }, code: { commit: 'abc' } }), now);
    expect(masked).toEqual(['HF_TOKEN']);
    expect(draft.variables).toEqual([{ name: 'HF_TOKEN', value: '', masked: true }, { name: 'A', value: 'b' }]);
    expect(draft.kept).toEqual({});
  });
  it('takes no time that has passed, and no name that was made up', () => {
    const { draft } = cloneOf(task({ command: ['a'], workdir: '/', begin: '2026-11-30T11:00:00Z' }), now);
    expect([draft.begin, draft.name]).toEqual(['', '']);
    expect(cloneOf(task({ command: ['a'], workdir: '/', begin: '2026-11-30T13:00:00Z' }), now).draft.begin).toBe('2026-11-30T13:00:00Z');
  });
  it('says that bytes which are no text were lost', () => {
    expect(cloneOf(task({ command: [{ base64: btoa('\xff') }], workdir: '/' }), now).damaged).toBe(true);
  });
  it('takes the shell only of a task that had one', () => {
    expect(cloneOf(task({ command: ['a'], workdir: '/', environment: { variables: { A: 'b' } } }), now).draft.environmentOf).toBe(12);
    expect(cloneOf(task({ command: ['a'], workdir: '/' }), now).draft.environmentOf).toBe(null);
  });
  it('tells in words what has no field', () => {
    expect(keptWords({ limits: { idle: 600 }, resources: { exclusive: true, cpus: 4 }, checkpoint: { resume: { base64: btoa('/x') } } })).toEqual(['limits.idle 600', 'resources.exclusive true', 'resources.cpus 4', 'checkpoint.resume /x']);
  });
  it('writes lengths as people do, without a loss', () => {
    expect([86_400, 9000, 90, 1, 0.25].map(lengthText)).toEqual(['1d', '2h30m', '1m30s', '1s', '0.25s']);
    for (const seconds of [1, 59, 60, 3601, 86_399, 90_061]) expect(readLength(lengthText(seconds))).toBe(seconds);
  });
});

describe('the same from a terminal', () => {
  it('is quoted so that a shell gives it back', () => {
    const { text, whole } = commandLine({ command: ['python', 'a b.py', "it's"], workdir: '/home/ann/my runs', name: '实验', resources: { gpus: '{1,2}' }, tags: ['x y'], environment: { variables: { A: 'b' } } });
    expect(text).toBe(`trainyard run --name '实验' --gpus '{1,2}' --workdir '/home/ann/my runs' --tag 'x y' -- python 'a b.py' 'it'\\''s'`);
    expect(whole).toBe(true);
  });
  it('hands a line for the shell over as one', () => {
    expect(commandLine({ command: ['sh', '-c', 'a | b'], workdir: '/r' }).text).toBe("trainyard run --workdir /r --clean-env --shell -- 'a | b'");
  });
  it('never shows a secret', () => {
    const { text } = commandLine({ command: ['a'], workdir: '/r', variables: { HF_TOKEN: 'hf_x', LR: '0.1' } });
    expect(text).toContain('--env HF_TOKEN="$HF_TOKEN" --env LR=0.1 ');
    expect(text).not.toContain('hf_x');
  });
  it('says when options cannot say it all', () => {
    expect(commandLine({ command: ['a'], workdir: '/r', checkpoint: { resume: 'self' } }).whole).toBe(false);
    const stop = commandLine({ command: ['a'], workdir: '/r', checkpoint: { signal: 'USR1', grace: 5 } });
    expect(stop).toEqual({ text: 'trainyard run --workdir /r --stop-signal USR1 --stop-grace 5s --clean-env -- a', whole: true });
  });
  it('judges names as the yard does', () => {
    for (const name of ['HF_TOKEN', 'token', 'WANDB_API_KEY', 'MYSQL_PWD', 'DB_PASS', 'AWS_SECRET_ACCESS_KEY', 'GithubToken', 'APIKEY']) expect(looksSecret(name), name).toBe(true);
    for (const name of ['PATH', 'PWD', 'OLDPWD', 'TOKENIZERS_PARALLELISM', 'MAX_TOKENS', 'KEYBOARD', 'SSH_AUTH_SOCK', 'COMPASS', 'LR', '', 'KEY']) expect(looksSecret(name), name).toBe(false);
  });
});
