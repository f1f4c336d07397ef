import { expect, test } from 'vitest';
import type { Device, Task } from '@/lib/api';
import { device, ended, message } from './testing';
import { alertsOf, isReleasable, type Yard } from './trouble';

const well: Yard = { status: { read_only: null, bad_backup: null, adopting: false, queue: { paused: false } }, devices: [device(0)], probe: { state: 'good', reason: null, driver: null, cuda: null }, ended: [], dismissed: new Set() };
const keys = (yard: Partial<Yard>) => alertsOf({ ...well, ...yard }).map(({ key }) => key);
const failed = (id: number, over: Partial<Task> = {}) => ended(id, 'failed', { ended_at: new Date(Date.UTC(2026, 10, 30, 0, id)).toISOString(), ...over });

test('a yard that is well says nothing', () => {
  expect(alertsOf(well)).toEqual([]);
  expect(alertsOf({ ...well, status: undefined, probe: undefined, devices: [] })).toEqual([]);
  expect(keys({ probe: { state: 'none', reason: null, driver: null, cuda: null } })).toEqual([]);
});

test('a device that is held, in use, shared or elsewhere is no trouble', () => {
  const states: Device['state'][] = ['free', 'leased', 'shared', 'held', 'elsewhere', 'settling'];
  expect(keys({ devices: states.map((state, i) => device(i, { state })) })).toEqual([]);
});

test("a device out of service says the yard's own sentence and can be released where a person decides", () => {
  const [alert] = alertsOf({ ...well, devices: [device(3, { state: 'quarantined', reason: message('device.xid', 'GPU3 reported a fault.') })] });
  expect(alert).toMatchObject({ level: 'bad', about: { kind: 'said', text: 'GPU3 reported a fault.' }, press: { kind: 'release' } });
});

test('nothing is offered to press for a device that comes back only by itself', () => {
  for (const id of ['device.unkillable', 'device.memory_held', 'device.left_behind'])
    expect(isReleasable(device(0, { state: 'quarantined', reason: message(id, '') }))).toBe(false);
  expect(isReleasable(device(0, { state: 'unknown' }))).toBe(false);
  for (const state of ['foreign', 'lost', 'held', 'quarantined'] as const) expect(isReleasable(device(0, { state }))).toBe(true);
});

test('when the library itself is unwell, cards that cannot be read do not say it again', () => {
  const yard = { probe: { state: 'hanging' as const, reason: message('probe.hanging', 'The driver does not answer.'), driver: null, cuda: null }, devices: [device(0, { state: 'unknown' }), device(1, { state: 'lost' })] };
  expect(keys(yard)).toEqual(['probe', 'device GPU-1']);
});

test('what is wrong with the yard comes before its devices, and those before tasks', () => {
  const status = { read_only: message('yard.read_only', 'Disk full.'), bad_backup: '/b', adopting: true, queue: { paused: true } };
  expect(keys({ status, devices: [device(1, { state: 'foreign' })], ended: [failed(7)] })).toEqual(['read_only', 'device GPU-1', 'backup', 'paused', 'adopting', 'uid-7']);
});

test('failures are told newest first, three of them, and the rest as a number', () => {
  const alerts = alertsOf({ ...well, ended: [failed(1), failed(5), ended(9, 'succeeded'), failed(2), failed(4)] });
  expect(alerts.map(({ key }) => key)).toEqual(['uid-5', 'uid-4', 'uid-2', 'more_failed']);
  expect(alerts.at(-1)!.about).toMatchObject({ count: 1 });
});

test('a failure that was dismissed stays away, also from the number', () => {
  expect(keys({ ended: [failed(1), failed(2)], dismissed: new Set(['uid-2']) })).toEqual(['uid-1']);
});

test('a task that a person cancelled has not failed', () => {
  expect(keys({ ended: [failed(1, { outcome: { kind: 'cancelled', class: '', exit_code: null, signal: null, failed_rank: null, core_dumped: false, core_file: null, reason: null, evidence: '' } })] })).toEqual([]);
});
