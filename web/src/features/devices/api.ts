import { queryOptions, useMutation } from '@tanstack/react-query';
import { answer, client } from '@/lib/api';
import { useLiveQuery } from '@/lib/useLive';

export const devicesQuery = queryOptions({
  queryKey: ['devices'],
  queryFn: () => answer(client.GET('/api/v1/devices')),
});
/** Devices with their leases and newest reading; live. */
export const useDevices = () => useLiveQuery('devices', devicesQuery);

export const useHoldDevices = () =>
  useMutation({
    mutationFn: (wish: { devices: string[]; until?: string }) => answer(client.POST('/api/v1/devices/hold', { body: wish })),
  });
export const useReleaseDevices = () =>
  useMutation({
    mutationFn: (devices: string[]) => answer(client.POST('/api/v1/devices/release', { body: { devices } })),
  });
