// What is wrong now, worst first, each with the one thing to press. Sentences of the yard are shown as they are.
import type { Device, Schemas, Task, YardStatus } from '@/lib/api';

export type Press = { kind: 'release'; device: Device } | { kind: 'open'; task: Task } | { kind: 'resume' } | { kind: 'check' } | { kind: 'failed' };
export interface Alert {
  key: string;
  level: 'bad' | 'warn' | 'note';
  about:
    | { kind: 'said'; text: string }
    | { kind: 'device'; device: Device }
    | { kind: 'task'; task: Task }
    | { kind: 'more_failed'; count: number; tasks: Task[] }
    | { kind: 'paused' | 'adopting' | 'probe' }
    | { kind: 'backup'; path: string };
  press: Press | null;
}

export interface Yard {
  status: Pick<YardStatus, 'read_only' | 'bad_backup' | 'adopting' | 'queue'> | undefined;
  devices: readonly Device[];
  probe: Schemas['DeviceList']['probe'] | undefined;
  ended: readonly Task[];
  dismissed: ReadonlySet<string>;
}

/** Releasing helps where a person decides; these come back by themselves and only then. */
const comesBackAlone = new Set(['device.unkillable', 'device.memory_held', 'device.left_behind', 'device.retired']);

export function isReleasable(device: Pick<Device, 'state' | 'reason'>): boolean {
  if (device.state === 'held' || device.state === 'foreign' || device.state === 'lost') return true;
  return device.state === 'quarantined' && !comesBackAlone.has(device.reason?.id ?? '');
}

const kShownFailures = 3;
const hasFailed = (task: Task) => task.outcome?.kind === 'failed' || task.outcome?.kind === 'lost' || task.outcome?.kind === 'timeout';

export function alertsOf(yard: Yard): Alert[] {
  const alerts: Alert[] = [];
  const { status, probe } = yard;
  if (status?.read_only) alerts.push({ key: 'read_only', level: 'bad', about: { kind: 'said', text: status.read_only.text }, press: null });
  if (probe && probe.state !== 'good' && probe.state !== 'none')
    alerts.push({ key: 'probe', level: 'bad', about: probe.reason ? { kind: 'said', text: probe.reason.text } : { kind: 'probe' }, press: { kind: 'check' } });
  for (const device of yard.devices) {
    const bad = device.state === 'quarantined' || device.state === 'lost';
    if (!bad && device.state !== 'unknown' && device.state !== 'foreign') continue;
    // While the library itself is unwell every card says the same.
    if (device.state === 'unknown' && alerts.some(({ key }) => key === 'probe')) continue;
    alerts.push({
      key: `device ${device.id}`,
      level: bad ? 'bad' : 'warn',
      about: device.reason ? { kind: 'said', text: device.reason.text } : { kind: 'device', device },
      press: isReleasable(device) ? { kind: 'release', device } : null,
    });
  }
  if (status?.bad_backup) alerts.push({ key: 'backup', level: 'warn', about: { kind: 'backup', path: status.bad_backup }, press: { kind: 'check' } });
  if (status?.queue.paused) alerts.push({ key: 'paused', level: 'warn', about: { kind: 'paused' }, press: { kind: 'resume' } });
  if (status?.adopting) alerts.push({ key: 'adopting', level: 'note', about: { kind: 'adopting' }, press: null });

  const failed = yard.ended.filter((task) => hasFailed(task) && !yard.dismissed.has(task.uid)).sort(newestFirst);
  for (const task of failed.slice(0, kShownFailures)) alerts.push({ key: task.uid, level: 'bad', about: { kind: 'task', task }, press: { kind: 'open', task } });
  const others = failed.slice(kShownFailures);
  if (others.length > 0) alerts.push({ key: 'more_failed', level: 'bad', about: { kind: 'more_failed', count: others.length, tasks: failed }, press: { kind: 'failed' } });
  return alerts;
}

export const newestFirst = (a: Task, b: Task) => Date.parse(b.ended_at ?? '') - Date.parse(a.ended_at ?? '') || b.id - a.id;
