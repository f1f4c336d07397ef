// Who is on a device: our tasks with what each has of it, programs from outside, another yard's task.
import { Link } from 'wouter';
import { Since } from '@/components/Since';
import type { Device } from '@/lib/api';
import { formatBytes, formatTime } from '@/lib/format';
import { useWords } from '@/lib/words';
import { bytesOf } from './figures';
import classes from './Devices.module.css';

export function Tenants({ device }: { device: Device }) {
  const foreign = (device.processes ?? []).filter((process) => process.foreign);
  return (
    <div className={classes.tenants}>
      {device.leases.map((lease) => (
        <Lease key={`${lease.task}/${lease.attempt}`} lease={lease} />
      ))}
      {foreign.map((process) => (
        <Foreign key={process.pid} process={process} />
      ))}
      {device.elsewhere && <Elsewhere from={device.elsewhere} />}
    </div>
  );
}

function Lease({ lease }: { lease: Device['leases'][number] }) {
  const { t } = useWords();
  const shared = lease.mode !== 'whole';
  const part = lease.share * 100;
  const memory = lease.used !== null && lease.memory !== null ? bytesOf(lease.used, lease.memory) : lease.used !== null ? formatBytes(lease.used) : null;
  return (
    <div className={classes.tenant}>
      <div className={classes.line}>
        <Link href={`/tasks/${lease.task}`} className={classes.task} title={lease.task_name}>
          <bdi>{lease.task_name}</bdi>
        </Link>
        <span className={classes.age}>
          <Since from={lease.since} />
        </span>
      </div>
      {shared && (
        <>
          <div className={classes.share} role="img" aria-label={`${t('overview.share_label', { name: lease.task_name })}: ${Math.round(part)} %`}>
            <div className={classes.part} data-frozen={lease.frozen || undefined} style={{ width: `${Math.min(100, part)}%` }} />
          </div>
          <div className={classes.line} data-facts>
            <span className={classes.words}>
              {lease.frozen ? `${Math.round(part)} % · ❄ ${t('overview.awaits_turn')}` : lease.mode === 'turns' ? t('overview.share_turns', { part }) : t('overview.share_together', { part })}
            </span>
            {memory && <span className={classes.age}>{memory}</span>}
          </div>
        </>
      )}
    </div>
  );
}

function Foreign({ process }: { process: NonNullable<Device['processes']>[number] }) {
  const { t } = useWords();
  const user = process.user ?? t('overview.unknown_user');
  return (
    <div className={classes.tenant}>
      <div className={classes.line}>
        <span className={classes.outside} title={process.command ?? undefined}>
          <bdi>{process.command ?? t('overview.foreign_process', { pid: process.pid })}</bdi>
        </span>
        {process.memory !== null && <span className={classes.age}>{formatBytes(process.memory)}</span>}
      </div>
      <div className={classes.line}>
        <span className={classes.words}>
          <bdi>{user}</bdi> · {t('overview.foreign_process', { pid: process.pid })}
        </span>
        {process.since && (
          <span className={classes.age}>
            <Since from={process.since} />
          </span>
        )}
      </div>
    </div>
  );
}

function Elsewhere({ from }: { from: NonNullable<Device['elsewhere']> }) {
  const { t, language } = useWords();
  const words = from.task === null ? t('overview.elsewhere_other') : t('overview.elsewhere_task', { task: from.task, name: from.task_name ?? '?', user: from.user ?? t('overview.unknown_user') });
  return (
    <div className={classes.tenant}>
      <div className={classes.line}>
        <span className={classes.words} title={from.since ? formatTime(from.since, language) : undefined}>
          {words}
        </span>
        {from.since && (
          <span className={classes.age}>
            <Since from={from.since} />
          </span>
        )}
      </div>
    </div>
  );
}
