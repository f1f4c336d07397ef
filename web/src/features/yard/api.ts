import { queryOptions, useMutation } from '@tanstack/react-query';
import { answer, client } from '@/lib/api';
import { useLiveQuery } from '@/lib/useLive';

export const statusQuery = queryOptions({
  queryKey: ['yard', 'status'],
  queryFn: () => answer(client.GET('/api/v1/status')),
});
/** The daemon, the counts and whether the queue is paused; live. */
export const useStatus = () => useLiveQuery('yard', statusQuery);

export const doctorQuery = queryOptions({
  queryKey: ['yard', 'doctor'],
  queryFn: () => answer(client.GET('/api/v1/doctor')),
});

/** Pauses (true) or resumes the queue. The new state arrives by the topic `yard`. */
export const usePauseQueue = () =>
  useMutation({
    mutationFn: (paused: boolean) =>
      answer(client.POST(paused ? '/api/v1/queue/pause' : '/api/v1/queue/resume', { body: {} })),
  });
