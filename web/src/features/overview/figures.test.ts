import { afterEach, expect, test, vi } from 'vitest';
import english from '@gen/en.json';
import { fill, type Translate } from '@/lib/words';
import { bytesOf, localText, nextMorning, throttleWord } from './devices/figures';
import { Loads } from './devices/loads';
import { headline } from './headline';
import { nextFree } from './nextFree';
import { priorityWords, readPriority, wantWords } from './queue/wants';
import { roughly } from './Summary';
import { device, lease, task } from './testing';

const t = ((id: string, args?: Record<string, string | number>) => fill((english as Record<string, string>)[id] ?? id, args, 'en')) as Translate;
const G = 2 ** 30;
afterEach(() => void vi.useRealTimers());

test('memory says its unit once where both have the same', () => {
  expect(bytesOf(118.4 * G, 139 * G)).toBe('118.4 / 139 GiB');
  expect(bytesOf(512 * 2 ** 20, 139 * G)).toBe('512 MiB / 139 GiB');
  expect(bytesOf(0, 139 * G)).toBe('0 B / 139 GiB');
});

test('a device is free when the last of its tasks has ended, the soonest device first', () => {
  const running = [task(1, { time_left_s: 600 }), task(2, { time_left_s: 60 }), task(3, { time_left_s: 900 })];
  const both = device(0, { leases: [lease(1), lease(2)] });
  expect(nextFree([device(1, { leases: [lease(3)] }), both], running)).toEqual({ label: 'GPU0', seconds: 600 });
});

test('nobody guesses for a device with a task that does not tell how long it needs', () => {
  const running = [task(1, { time_left_s: 60 }), task(2)];
  expect(nextFree([device(0, { leases: [lease(1), lease(2)] })], running)).toBeNull();
  expect(nextFree([device(0, { leases: [lease(9)] })], running)).toBeNull();
  expect(nextFree([device(0, { usable: false, leases: [lease(1)] })], running)).toBeNull();
  expect(nextFree([device(0)], running)).toBeNull();
});

test('a guess is not told to the second', () => {
  expect(roughly(4213)).toBe(4200);
  expect(roughly(350)).toBe(360);
});

test('the metric of a row is the loss, else what is being made better, else the first', () => {
  expect(headline({ lr: 1, val_loss: 2, 'train/loss': 3 })?.name).toBe('train/loss');
  expect(headline({ lr: 1, val_loss: 2, loss: 3 })?.name).toBe('loss');
  expect(headline({ lr: 1, lossless_ratio: 1, box_loss: 'NaN' })).toEqual({ name: 'box_loss', value: 'NaN' });
  expect(headline({ lr: 1, accuracy: 0.9 })?.name).toBe('accuracy');
  expect(headline({ lr: 1 })?.name).toBe('lr');
  expect(headline({})).toBeNull();
});

test('what a task needs is what it asked for, also while it is held or the queue is paused', () => {
  const words = (devices: string, over: { share?: string; cores?: number; memory?: number } = {}, given: 'gpus' | 'slots' = 'gpus') =>
    wantWords({ share: over.share ?? null, wants: { devices, cores: over.cores ?? 1, gpu_memory: over.memory ?? 0 } }, given, t);
  expect(words('1')).toBe('1 GPU');
  expect(words('2', { memory: 24 * G })).toBe('2 GPUs, ≥ 24 GiB');
  expect(words('1-4')).toBe('1–4 GPUs');
  expect(words('{1,2,4}')).toBe('1/2/4 GPUs');
  expect(words('1', {}, 'slots')).toBe('1 slot');
  expect(words('1-2', {}, 'slots')).toBe('1–2 slots');
  expect(words('0', { cores: 8 })).toBe('8 cores');
  expect(words('1', { share: '0.5:turns:3s' })).toBe('50 %, in turns');
  expect(words('1', { share: '0.25:together', memory: 8 * G })).toBe('25 % of a device, ≥ 8 GiB');
});

test('a priority is a name where people gave it by name, and is read as it is typed', () => {
  expect([100, 0, -100, 17, -3].map((each) => priorityWords(each, t))).toEqual(['high', 'normal', 'low', '17', '−3']);
  expect(['5', ' -12 ', '−7', '1000000000'].map(readPriority)).toEqual([5, -12, -7, 1_000_000_000]);
  expect(['', '-', '1e3', '1.5', 'high', '1000000001', '12345678901234567890'].map(readPriority)).toEqual(Array(7).fill(null));
});

test('what slows a device down is said in words, and unknown causes by their name', () => {
  expect(['power_cap', 'sw_thermal', 'hw_slowdown', 'sync_boost'].map((each) => throttleWord(each, t))).toEqual(['power limit', 'heat', 'hardware limit', 'sync_boost']);
});

test('tomorrow morning is tomorrow also in the small hours and at the end of a month', () => {
  expect(localText(nextMorning(new Date(2026, 10, 30, 2, 15)))).toBe('2026-12-01T08:00');
});

test('the load of a device is taken every two seconds and forgotten after a long look away', () => {
  const loads = new Loads();
  const at = (utilisation: number | null) => [device(0, { reading: { ...device(0).reading!, utilisation } })];
  loads.take(at(0.1), 100_000);
  loads.take(at(0.2), 101_000);
  loads.take(at(0.3), 102_000);
  expect(loads.of('GPU-0')).toEqual([0.1, 0.3]);
  expect(loads.of('GPU-0')).toBe(loads.of('GPU-0'));
  loads.take(at(0.4), 140_000);
  expect(loads.of('GPU-0')).toEqual([0.4]);
});

test('a device that tells no load has no line instead of a false zero', () => {
  const loads = new Loads();
  loads.take([device(0, { reading: null })], 100_000);
  expect(loads.of('GPU-0')).toEqual([]);
});
