// A CPU slot: a line with its cores and who is on it.
import { memo } from 'react';
import type { Device } from '@/lib/api';
import { useWords } from '@/lib/words';
import { DeviceHead } from './DeviceHead';
import { Tenants } from './Tenants';
import classes from './Devices.module.css';

export const SlotCard = memo(function SlotCard({ device }: { device: Device }) {
  const { t } = useWords();
  const quiet = device.leases.length === 0 && !device.elsewhere;
  return (
    <li className={classes.card} data-out={!device.usable || undefined}>
      <DeviceHead device={device} title={device.name} />
      <div className={classes.model} title={device.cpus.length > 0 ? device.cpus.join(', ') : undefined}>
        {device.cpus.length > 0 && t('overview.cores', { count: device.cpus.length })}
      </div>
      {device.reason && device.state !== 'held' && device.state !== 'elsewhere' && <p className={classes.reason}>{device.reason.text}</p>}
      {quiet ? <div className={classes.nobody}>{t('overview.nobody')}</div> : <Tenants device={device} />}
    </li>
  );
});
