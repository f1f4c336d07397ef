// The yard in one line: what there is, what runs, what waits, and which device frees next.
import { useQuery } from '@tanstack/react-query';
import { devicesQuery } from '@/features/devices';
import { runningQuery } from '@/features/tasks';
import { statusQuery } from '@/features/yard';
import type { Device, Task, YardStatus } from '@/lib/api';
import { useWords } from '@/lib/words';
import { nextFree } from './nextFree';
import classes from './OverviewPage.module.css';

const countsOf = ({ counts }: YardStatus) => counts;
const itemsOf = <T,>(list: { items: T[] }) => list.items;

export function Summary() {
  const { t } = useWords();
  const { data: counts } = useQuery({ ...statusQuery, select: countsOf });
  const { data: devices } = useQuery({ ...devicesQuery, select: itemsOf<Device> });
  const { data: running } = useQuery({ ...runningQuery, select: itemsOf<Task> });
  if (!counts || !devices) return <p className={classes.summary} />;
  const slots = devices.filter(({ kind }) => kind === 'cpu').length;
  const gpus = devices.length - slots;
  const parts = [
    ...(gpus > 0 ? [t('overview.gpus', { count: gpus })] : []),
    ...(slots > 0 ? [t('overview.slots', { count: slots })] : []),
    ...(devices.length === 0 ? [t('overview.no_devices')] : [t('overview.free', { count: counts.devices_free })]),
    t('overview.running', { count: counts.running }),
    t('overview.waiting', { count: counts.waiting }),
    ...(counts.held > 0 ? [t('overview.held', { count: counts.held })] : []),
  ];
  const next = counts.devices_free === 0 ? nextFree(devices, running ?? []) : null;
  if (next) parts.push(next.seconds < 60 ? t('overview.frees_soon', { device: next.label }) : t('overview.frees_next', { device: next.label, left: roughly(next.seconds) }));
  return (
    <ul className={classes.summary} data-live title={parts.join(' · ')}>
      {parts.map((part, at) => (
        <li key={at}>{part}</li>
      ))}
    </ul>
  );
}

/** A guess is not told to the second: whole minutes, and five of them past an hour. */
export function roughly(seconds: number): number {
  const step = seconds >= 3600 ? 300 : 60;
  return Math.round(seconds / step) * step;
}
