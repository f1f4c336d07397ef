// Holds and releases devices for the cards and alerts below it; asks back where a device is used from outside, and shows what
// the yard refused above its place.
import { Button, Group, Modal, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { createContext, use, useCallback, useMemo, useState, type FormEvent, type ReactNode } from 'react';
import { devicesQuery, useHoldDevices, useReleaseDevices } from '@/features/devices';
import { pending } from '@/features/tasks';
import { Refusal } from '@/features/tasks/list';
import { detailOf, type Device } from '@/lib/api';
import { useWords } from '@/lib/words';
import { localText } from './figures';

interface Doer {
  /** Until a time, or (null) until it is released. */
  hold: (device: Device, until: Date | null) => void;
  holdUntil: (device: Device) => void;
  release: (device: Device) => void;
}
const Context = createContext<Doer | null>(null);
export function useDeviceActs(): Doer {
  const doer = use(Context);
  if (!doer) throw new Error('useDeviceActs outside of DeviceActs');
  return doer;
}

const titled = { title: { fontWeight: 650 } };

export const deviceKey = (device: Device) => `device/${device.id}`;
export const deviceStanding = (device: Device) => `${device.state} ${device.usable} ${device.held_until ?? ''} ${device.reason?.id ?? ''}`;

export function DeviceActs(props: { children: ReactNode }) {
  const { t } = useWords();
  const queries = useQueryClient();
  const [refusal, setRefusal] = useState<string | null>(null);
  const [choosing, setChoosing] = useState<Device | null>(null);
  const [foreign, setForeign] = useState<Device | null>(null);
  const { mutateAsync: askHold } = useHoldDevices();
  const { mutateAsync: askRelease } = useReleaseDevices();

  const run = useCallback(
    async (device: Device, call: () => Promise<{ items: { ok: boolean; problem?: { detail: string } }[] }>) => {
      setRefusal(null);
      pending.begin(deviceKey(device), 'device', deviceStanding(device));
      try {
        const refused = (await call()).items.find((item) => !item.ok);
        if (refused) {
          pending.end(deviceKey(device));
          setRefusal(refused.problem?.detail ?? '');
        }
      } catch (error) {
        pending.end(deviceKey(device));
        setRefusal(detailOf(error, t('app.unreachable')));
      }
      void queries.invalidateQueries({ queryKey: devicesQuery.queryKey });
    },
    [queries, t],
  );
  const release = useCallback((device: Device) => void run(device, () => askRelease([device.id])), [run, askRelease]);
  const doer = useMemo<Doer>(
    () => ({
      hold: (device, until) => void run(device, () => askHold({ devices: [device.id], ...(until ? { until: until.toISOString() } : {}) })),
      holdUntil: setChoosing,
      release: (device) => (device.state === 'foreign' ? setForeign(device) : release(device)),
    }),
    [run, askHold, release],
  );

  return (
    <Context value={doer}>
      <Refusal text={refusal} onClose={() => setRefusal(null)} />
      {props.children}
      <Modal opened={choosing !== null} onClose={() => setChoosing(null)} centered withCloseButton={false} styles={titled} title={t('overview.hold_title', { device: choosing?.label ?? '' })}>
        {choosing && (
          <HoldForm
            onBack={() => setChoosing(null)}
            onHold={(until) => {
              doer.hold(choosing, until);
              setChoosing(null);
            }}
          />
        )}
      </Modal>
      <Modal opened={foreign !== null} onClose={() => setForeign(null)} centered withCloseButton={false} styles={titled} title={t('overview.foreign_title', { device: foreign?.label ?? '' })}>
        <Text size="sm">{t('overview.foreign_text')}</Text>
        <Group justify="flex-end" mt="lg" gap="sm">
          <Button variant="default" data-autofocus onClick={() => setForeign(null)}>
            {t('tasks.keep')}
          </Button>
          <Button
            onClick={() => {
              if (foreign) release(foreign);
              setForeign(null);
            }}
          >
            {t('overview.device_release')}
          </Button>
        </Group>
      </Modal>
    </Context>
  );
}

function HoldForm(props: { onBack: () => void; onHold: (until: Date) => void }) {
  const { t } = useWords();
  const [text, setText] = useState(() => localText(new Date(Date.now() + 2 * 3_600_000)));
  const [refused, setRefused] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const until = new Date(text);
    if (!(until.getTime() > Date.now())) return setRefused(true);
    props.onHold(until);
  };
  return (
    <form onSubmit={submit}>
      <TextInput type="datetime-local" label={t('overview.hold_when')} value={text} onChange={(event) => setText(event.currentTarget.value)} error={refused ? t('overview.hold_past') : undefined} data-autofocus />
      <Group justify="flex-end" mt="lg" gap="sm">
        <Button variant="default" onClick={props.onBack}>
          {t('tasks.keep')}
        </Button>
        <Button type="submit">{t('overview.hold_do')}</Button>
      </Group>
    </form>
  );
}
