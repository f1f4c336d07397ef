// All devices as cards: how they are, how busy, who is on them, and what a person can do about that.
import { useQuery } from '@tanstack/react-query';
import { memo } from 'react';
import { Section } from '@/components/Section';
import { devicesQuery } from '@/features/devices';
import { CopyLine } from '@/features/welcome';
import type { Device } from '@/lib/api';
import { useWords } from '@/lib/words';
import { DeviceActs } from './DeviceActs';
import { GpuCard } from './GpuCard';
import { SlotCard } from './SlotCard';
import classes from './Devices.module.css';

const kMany = 8;

export const Devices = memo(function Devices() {
  const { t } = useWords();
  const { data: devices } = useQuery({ ...devicesQuery, select: itemsOf });
  if (!devices) return null;
  const gpus = devices.filter((device) => device.kind !== 'cpu');
  const slots = devices.filter((device) => device.kind === 'cpu');
  return (
    <Section title={t('overview.devices')} bare>
      <DeviceActs>
        {devices.length === 0 && (
          <div className={classes.none}>
            <p>{t('overview.devices_none')}</p>
            <p className={classes.dimmed}>{t('overview.devices_none_next')}</p>
            <CopyLine line="trainyard up --devices cpu:2" />
          </div>
        )}
        {gpus.length > 0 && (
          <ul className={classes.cards} data-many={gpus.length > kMany || undefined}>
            {gpus.map((device) => (
              <GpuCard key={device.id} device={device} />
            ))}
          </ul>
        )}
        {slots.length > 0 && (
          <ul className={classes.slots}>
            {slots.map((device) => (
              <SlotCard key={device.id} device={device} />
            ))}
          </ul>
        )}
      </DeviceActs>
    </Section>
  );
});

const itemsOf = (list: { items: Device[] }) => list.items;
