// Which device is free first: when everybody who is on it has ended, as far as all of them tell how long they need.
import type { Device, Task } from '@/lib/api';

export function nextFree(devices: readonly Device[], running: readonly Task[]): { label: string; seconds: number } | null {
  const left = new Map(running.map((task) => [task.id, task.time_left_s]));
  let soonest: { label: string; seconds: number } | null = null;
  for (const device of devices) {
    if (!device.usable || device.leases.length === 0) continue;
    let seconds = 0;
    for (const lease of device.leases) seconds = Math.max(seconds, left.get(lease.task) ?? Infinity);
    if (Number.isFinite(seconds) && (!soonest || seconds < soonest.seconds)) soonest = { label: device.label, seconds };
  }
  return soonest;
}
