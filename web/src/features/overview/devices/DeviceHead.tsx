// Label, state and menu of a device, the same for all kinds.
import { ActionIcon, Loader, Menu } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { At } from '@/components/Since';
import { usePending } from '@/features/tasks';
import type { Device } from '@/lib/api';
import { useLiveStream } from '@/lib/useLive';
import { useWords } from '@/lib/words';
import { isReleasable } from '../trouble';
import { deviceKey, deviceStanding, useDeviceActs } from './DeviceActs';
import { nextMorning, stateMark, stateTone, stateWord } from './figures';
import classes from './Devices.module.css';

export function DeviceHead(props: { device: Device; title: string }) {
  const { t } = useWords();
  const { device } = props;
  return (
    <div className={classes.head}>
      <h3 className={classes.label} title={props.title}>
        {device.label}
      </h3>
      <span className={classes.state} data-tone={stateTone[device.state]}>
        <span aria-hidden className={classes.mark}>
          {stateMark[device.state]}
        </span>
        {stateWord(device.state, t)}
      </span>
      {device.state === 'held' && <span className={classes.until}>{device.held_until ? <Until at={device.held_until} /> : t('overview.held_open')}</span>}
      {device.out_since && (
        <span className={classes.until}>
          <At time={device.out_since} />
        </span>
      )}
      <DeviceMenu device={device} />
    </div>
  );
}

function Until(props: { at: string }) {
  const { t } = useWords();
  return <>{t('overview.held_until', { at: props.at })}</>;
}

function DeviceMenu({ device }: { device: Device }) {
  const { t } = useWords();
  const live = useLiveStream();
  const { hold, holdUntil, release } = useDeviceActs();
  const doing = usePending(deviceKey(device), deviceStanding(device));
  if (doing)
    return (
      <span className={classes.menu} role="status" aria-label={`${device.label}: ${t('act.done_waiting')}`} title={t('act.done_waiting')}>
        <Loader size={16} aria-hidden />
      </span>
    );
  // By the yard's clock: this browser's may be wrong.
  const inHours = (count: number) => () => hold(device, new Date(Date.now() + live.getState().ahead + count * 3_600_000));
  return (
    <Menu position="bottom-end" width={250} withinPortal withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <ActionIcon className={classes.menu} variant="subtle" color="gray" size="sm" aria-label={t('overview.device_menu', { device: device.label })}>
          <IconDots size={16} stroke={1.7} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {isReleasable(device) && (
          <>
            <Menu.Item onClick={() => release(device)}>{t('overview.device_release')}</Menu.Item>
            <Menu.Divider />
          </>
        )}
        <Menu.Label>{t('overview.hold')}</Menu.Label>
        <Menu.Item onClick={inHours(1)}>{t('overview.hold_hours', { count: 1 })}</Menu.Item>
        <Menu.Item onClick={inHours(4)}>{t('overview.hold_hours', { count: 4 })}</Menu.Item>
        <Menu.Item onClick={() => hold(device, nextMorning(new Date()))}>{t('overview.hold_morning')}</Menu.Item>
        <Menu.Item onClick={() => hold(device, null)}>{t('overview.hold_open')}</Menu.Item>
        <Menu.Item onClick={() => holdUntil(device)}>{t('overview.hold_until')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
