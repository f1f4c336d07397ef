// One GPU or MIG slice: state, load with its last minutes, memory, power, temperature, who is on it, and why it is out of service.
import { memo, useSyncExternalStore } from 'react';
import { Sparkline } from '@/components/chart';
import type { Device } from '@/lib/api';
import { useWords } from '@/lib/words';
import { DeviceHead } from './DeviceHead';
import { bytesOf, throttleWord } from './figures';
import { loads } from './loads';
import { Tenants } from './Tenants';
import classes from './Devices.module.css';

export const GpuCard = memo(function GpuCard({ device }: { device: Device }) {
  const { t } = useWords();
  const { reading, memory } = device;
  const load = reading?.utilisation ?? null;
  // Who has it in another yard is told with the tenants; that something else keeps it, here.
  const out = device.reason !== null && device.state !== 'foreign' && device.state !== 'held' && !device.elsewhere;
  return (
    <li className={classes.card} data-out={(!device.usable && device.state !== 'foreign') || undefined}>
      <DeviceHead device={device} title={device.name} />
      <div className={classes.model} title={device.name}>
        {device.name}
      </div>
      <dl className={classes.figures} data-live>
        <dt>{t('overview.load')}</dt>
        <dd className={classes.meter}>
          <LoadLine device={device} />
        </dd>
        <dd className={classes.figure}>{load === null ? <NotTold device={device} what={t('overview.load')} /> : `${Math.round(load * 100)} %`}</dd>

        <dt>{t('overview.memory')}</dt>
        <dd className={classes.meter}>
          {memory.used !== null && memory.total > 0 && (
            <div className={classes.bar} role="img" aria-label={`${t('overview.memory')}: ${Math.round((memory.used / memory.total) * 100)} %`}>
              <div className={classes.fill} data-full={memory.used / memory.total > 0.95 || undefined} style={{ width: `${Math.min(100, (memory.used / memory.total) * 100)}%` }} />
            </div>
          )}
        </dd>
        <dd className={classes.figure}>{memory.used === null || memory.total === 0 ? <NotTold device={device} what={t('overview.memory')} /> : bytesOf(memory.used, memory.total)}</dd>
      </dl>
      <div className={classes.small} data-live>
        <span title={t('overview.power')}>
          {reading?.power_w == null ? (
            <NotTold device={device} what={t('overview.power')} unit="W" />
          ) : reading.power_limit_w == null ? (
            `${Math.round(reading.power_w)} W`
          ) : (
            `${Math.round(reading.power_w)} / ${Math.round(reading.power_limit_w)} W`
          )}
        </span>
        <span title={t('overview.temperature')}>{reading?.temperature_c == null ? <NotTold device={device} what={t('overview.temperature')} unit="°C" /> : `${Math.round(reading.temperature_c)} °C`}</span>
        {reading && reading.throttle.length > 0 && (
          <span className={classes.warn} title={t('overview.throttle', { what: reading.throttle.map((name) => throttleWord(name, t)).join(', ') })}>
            <span aria-hidden>▼ </span>
            {[...new Set(reading.throttle.map((name) => throttleWord(name, t)))].join(', ')}
          </span>
        )}
        {!!reading?.ecc_uncorrectable && (
          <span className={classes.bad} title={t('overview.ecc_why')}>
            {t('overview.ecc', { count: reading.ecc_uncorrectable })}
          </span>
        )}
      </div>
      {out && (
        <p className={classes.reason} title={device.reason?.text}>
          {device.reason?.text}
        </p>
      )}
      <Tenants device={device} />
    </li>
  );
});

function LoadLine({ device }: { device: Device }) {
  const { t } = useWords();
  const values = useSyncExternalStore(loads.subscribe, () => loads.of(device.id));
  return values.length > 1 ? <Sparkline values={values} max={1} width={90} height={20} label={t('overview.load_line', { device: device.label })} /> : null;
}

/** A dash, with whose fault that is. */
function NotTold(props: { device: Device; what: string; unit?: string }) {
  const { t } = useWords();
  const { reading, reason } = props.device;
  const why = reading ? t('overview.not_told_why', { what: props.what }) : (reason?.text ?? t('overview.not_read_why', { what: props.what }));
  return (
    <span className={classes.notTold} title={why}>
      <span aria-hidden>—{props.unit && ` ${props.unit}`}</span>
      <span className={classes.unseen}>{t('overview.not_told')}</span>
    </span>
  );
}
