// What is wrong now, above everything else; nothing at all when nothing is.
import { Button, CloseButton, Loader } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { At } from '@/components/Since';
import { devicesQuery } from '@/features/devices';
import { usePending } from '@/features/tasks';
import { kPhone, Refusal } from '@/features/tasks/list';
import { statusQuery } from '@/features/yard';
import type { Device, Schemas, YardStatus } from '@/lib/api';
import { useWords, type Translate } from '@/lib/words';
import { alertsOf, type Alert, type Press } from './trouble';
import { recentQuery } from './api';
import { DeviceActs, deviceKey, deviceStanding, useDeviceActs } from './devices/DeviceActs';
import { stateWord } from './devices/figures';
import { useDismissed } from './dismissed';
import { usePause } from './queue/usePause';
import { useHour } from './useHour';
import classes from './Alerts.module.css';

const kShown = 5;
const kShownNarrow = 3; // a phone shows the yard too
const trouble = ({ read_only, bad_backup, adopting, queue }: YardStatus) => ({ read_only, bad_backup, adopting, queue });
const outOf = ({ items, probe }: Schemas['DeviceList']) => ({
  probe,
  // Readings move each second; what is wrong does not.
  devices: items.map((device) => ({ ...device, reading: null, memory: { total: 0, used: null }, processes: null, leases: [] }) satisfies Device),
});

export function Alerts() {
  return (
    <DeviceActs>
      <AlertList />
    </DeviceActs>
  );
}

function AlertList() {
  const { t } = useWords();
  const hour = useHour();
  const { data: status } = useQuery({ ...statusQuery, select: trouble });
  const { data: found } = useQuery({ ...devicesQuery, select: outOf });
  const { data: recent } = useQuery(recentQuery(hour));
  const { dismissed, dismiss } = useDismissed();
  const [all, setAll] = useState(false);
  const [refusal, setRefusal] = useState<string | null>(null);
  const pause = usePause(setRefusal);
  const alerts = useMemo(
    () => alertsOf({ status, devices: found?.devices ?? [], probe: found?.probe, ended: recent?.items ?? [], dismissed }),
    [status, found, recent, dismissed],
  );
  const narrow = useMediaQuery(kPhone, false, { getInitialValueInEffect: false });
  if (alerts.length === 0) return null;
  const most = narrow ? kShownNarrow : kShown;
  const shown = all ? alerts : alerts.slice(0, most);
  return (
    <section aria-label={t('overview.alerts')}>
      <Refusal text={refusal} onClose={() => setRefusal(null)} />
      <ul className={classes.alerts}>
        {shown.map((alert) => (
          <Row key={alert.key} alert={alert} dismiss={dismiss} resume={<Button size="compact-xs" variant="default" loading={pause.doing} onClick={() => pause.set(false)} aria-label={t('overview.resume_label')}>{t('overview.resume')}</Button>} />
        ))}
      </ul>
      {alerts.length > most && (
        <Button size="compact-xs" variant="subtle" color="gray" mt={4} aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? t('overview.fewer_alerts') : t('overview.more_alerts', { count: alerts.length - most })}
        </Button>
      )}
    </section>
  );
}

function textOf(about: Alert['about'], t: Translate): string {
  switch (about.kind) {
    case 'said':
      return about.text;
    case 'device':
      return t('overview.alert_device', { device: about.device.label, state: stateWord(about.device.state, t) });
    case 'paused':
      return t('overview.alert_paused');
    case 'adopting':
      return t('overview.alert_adopting');
    case 'probe':
      return t('overview.alert_probe');
    case 'backup':
      return t('overview.alert_backup', { path: about.path });
    case 'more_failed':
      return t('overview.alert_more_failed', { count: about.count });
    case 'task': {
      const { name, outcome } = about.task;
      const words = { name, reason: outcome?.reason?.text ?? t('overview.alert_no_reason') };
      return outcome?.kind === 'lost' ? t('overview.alert_lost', words) : outcome?.kind === 'timeout' ? t('overview.alert_timeout', words) : t('overview.alert_failed', words);
    }
  }
}

function Row(props: { alert: Alert; dismiss: (uids: string[]) => void; resume: ReactNode }) {
  const { t } = useWords();
  const { level, about, press } = props.alert;
  const task = about.kind === 'task' ? about.task : null;
  return (
    <li className={classes.alert} data-level={level}>
      <span className={classes.mark} role="img" aria-label={{ bad: t('overview.alert_bad'), warn: t('overview.alert_warn'), note: t('overview.alert_note') }[level]}>
        {{ bad: '✕', warn: '▲', note: 'i' }[level]}
      </span>
      <span className={classes.text}>{textOf(about, t)}</span>
      {task?.ended_at && (
        <span className={classes.at}>
          <At time={task.ended_at} />
        </span>
      )}
      <span className={classes.press}>
        {press?.kind === 'resume' ? props.resume : press && <PressButton press={press} />}
        {task && <CloseButton size="sm" aria-label={t('overview.dismiss_named', { name: task.name })} title={t('overview.dismiss')} onClick={() => props.dismiss([task.uid])} />}
        {about.kind === 'more_failed' && (
          <Button size="compact-xs" variant="subtle" color="gray" onClick={() => props.dismiss(about.tasks.map(({ uid }) => uid))}>
            {t('overview.dismiss_all')}
          </Button>
        )}
      </span>
    </li>
  );
}

function PressButton({ press }: { press: Exclude<Press, { kind: 'resume' }> }) {
  const { t } = useWords();
  switch (press.kind) {
    case 'release':
      return <ReleaseButton device={press.device} />;
    case 'open':
      return (
        <Button component={Link} href={`/tasks/${press.task.id}`} size="compact-xs" variant="default" aria-label={t('overview.open_named', { name: press.task.name })}>
          {t('overview.open')}
        </Button>
      );
    case 'check':
      return (
        <Button component={Link} href="/welcome" size="compact-xs" variant="default">
          {t('overview.check_machine')}
        </Button>
      );
    case 'failed':
      return (
        <Button component={Link} href="/tasks?state=bad" size="compact-xs" variant="default">
          {t('overview.show_all')}
        </Button>
      );
  }
}

function ReleaseButton({ device }: { device: Device }) {
  const { t } = useWords();
  const { release } = useDeviceActs();
  const doing = usePending(deviceKey(device), deviceStanding(device));
  return (
    <Button size="compact-xs" variant="default" disabled={doing !== null} leftSection={doing ? <Loader size={12} aria-hidden /> : undefined} onClick={() => release(device)} aria-label={t('overview.device_release_named', { device: device.label })}>
      {t('overview.device_release')}
    </Button>
  );
}
