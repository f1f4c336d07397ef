// What runs, when it ends, what is next, what is wrong: one place, without a click.
import { Button, Loader } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link } from 'wouter';
import { devicesQuery, useDevices } from '@/features/devices';
import { runningQuery, useRunning } from '@/features/tasks';
import { Acts } from '@/features/tasks/list';
import { statusQuery, useStatus } from '@/features/yard';
import { detailOf, type Device, type YardStatus } from '@/lib/api';
import { useLiveStream } from '@/lib/useLive';
import { useWords } from '@/lib/words';
import { Alerts } from './Alerts';
import { everQuery, recentQuery } from './api';
import { Devices } from './devices/Devices';
import { loads } from './devices/loads';
import { Invitation } from './Invitation';
import { Queue } from './queue/Queue';
import { Recent } from './Recent';
import { Running } from './Running';
import { Summary } from './Summary';
import { useHour } from './useHour';
import classes from './OverviewPage.module.css';

export function OverviewPage() {
  const { t } = useWords();
  return (
    <div className={classes.page}>
      <Watch />
      <header className={classes.top}>
        <h1 className={classes.title}>{t('overview.title')}</h1>
        <Summary />
        <Button component={Link} href="/new" size="xs" className={classes.new}>
          {t('overview.new_task')}
        </Button>
      </header>
      <Body />
    </div>
  );
}

/** Listens for the whole page; its parts take what they show from the cache and are drawn again only when that moves. */
function Watch() {
  const queries = useQueryClient();
  const live = useLiveStream();
  useStatus();
  useDevices();
  useRunning();
  useEffect(() => {
    const take = () => {
      const { line } = live.getState();
      if (line !== 'live' && line !== 'polling') return;
      loads.take(queries.getQueryData<{ items: Device[] }>(devicesQuery.queryKey)?.items ?? [], Date.now());
    };
    const timer = setInterval(take, 1000);
    return () => clearInterval(timer);
  }, [queries, live]);
  return null;
}

const countsOf = ({ counts }: YardStatus) => counts;

function Body() {
  const { t } = useWords();
  const { data: counts, error, refetch } = useQuery({ ...statusQuery, select: countsOf });
  const complete = useComplete();
  if (!counts || !complete)
    return (
      <div className={classes.waiting}>
        {error ? (
          <>
            <p role="alert">{detailOf(error, t('app.unreachable'))}</p>
            <Button size="xs" variant="default" onClick={() => void refetch()}>
              {t('app.retry')}
            </Button>
          </>
        ) : (
          <Loader size="sm" aria-label={t('app.loading')} />
        )}
      </div>
    );
  const waiting = counts.waiting + counts.held;
  const empty = counts.running === 0 && waiting === 0;
  return (
    <div className={classes.parts}>
      <Alerts />
      {empty && <Never />}
      <Devices />
      {empty ? (
        <Invitation />
      ) : (
        <>
          <Acts>
            <Running />
          </Acts>
          <Acts>
            <Queue total={waiting} />
          </Acts>
        </>
      )}
      <Recent quiet={empty} />
    </div>
  );
}

/** Whether all is there that would push down what stands below it; a call that fails is not waited for. */
function useComplete(): boolean {
  const first = { select: () => null, notifyOnChangeProps: ['isPending', 'failureCount'] as ('isPending' | 'failureCount')[] };
  const recent = useQuery({ ...recentQuery(useHour()), ...first });
  const devices = useQuery({ ...devicesQuery, ...first });
  const running = useQuery({ ...runningQuery, ...first });
  return [recent, devices, running].every(({ isPending, failureCount }) => !isPending || failureCount > 0);
}

/** The way to the first run, while there has been none. */
function Never() {
  const { t } = useWords();
  const { data: ever } = useQuery(everQuery);
  if (ever !== false) return null;
  return (
    <p className={classes.never}>
      {t('overview.welcome')} <Link href="/welcome">{t('overview.welcome_link')}</Link>
    </p>
  );
}
