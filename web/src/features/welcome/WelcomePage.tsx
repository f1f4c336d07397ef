// The first run: what the yard rests on, what is to be mended with which command, and the way to a first training.
import { Button, Loader } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { doctorQuery } from '@/features/yard';
import { detailOf } from '@/lib/api';
import { useWords } from '@/lib/words';
import { CopyLine } from './CopyLine';
import { byLevel, type Finding } from './findings';
import classes from './WelcomePage.module.css';

export function WelcomePage() {
  const { t } = useWords();
  // It is looked at now, each time that somebody comes to see.
  const { data, error, isFetching, refetch } = useQuery({ ...doctorQuery, staleTime: 0 });
  const levels = useMemo(() => data && byLevel(data.items), [data]);
  const verdict = !levels ? '' : levels.bad.length > 0 ? t('welcome.some_bad', { count: levels.bad.length }) : levels.note.length > 0 ? t('welcome.some_notes', { count: levels.note.length }) : t('welcome.all_good');
  return (
    <div className={classes.page}>
      <header className={classes.top}>
        <h1 className={classes.title}>{t('welcome.title')}</h1>
        <Button size="xs" variant="default" loading={isFetching} onClick={() => void refetch()}>
          {t('welcome.again')}
        </Button>
      </header>
      <p className={classes.verdict} role="status" data-level={levels ? (levels.bad.length > 0 ? 'bad' : levels.note.length > 0 ? 'note' : 'good') : undefined}>
        {verdict || (error ? '' : t('welcome.looking'))}
      </p>
      {error && (
        <p className={classes.error} role="alert">
          {detailOf(error, t('app.unreachable'))}
        </p>
      )}
      {!levels && !error && <Loader size="sm" aria-label={t('welcome.looking')} />}
      {levels && (
        <div aria-busy={isFetching}>
          <Group title={t('welcome.bad')} level="bad" findings={levels.bad} />
          <Group title={t('welcome.notes')} level="note" findings={levels.note} />
          <Group title={t('welcome.good')} level="good" findings={levels.good} />
        </div>
      )}
      <First />
    </div>
  );
}

const marks = { bad: '✕', note: '!', good: '✓' };

function Group(props: { title: string; level: Finding['level']; findings: readonly Finding[] }) {
  const { t } = useWords();
  const { title, level, findings } = props;
  if (findings.length === 0) return null;
  return (
    <section className={classes.group} aria-label={title}>
      <h2 className={classes.level}>{title}</h2>
      <ul className={classes.findings} data-level={level}>
        {findings.map((finding) => (
          <li key={`${finding.check} ${finding.text}`} className={classes.finding}>
            <span className={classes.mark} aria-hidden>
              {marks[level]}
            </span>
            <div className={classes.said}>
              <p className={classes.text}>{finding.text}</p>
              {finding.mend && (
                <div className={classes.mend}>
                  <span className={classes.run}>{t('welcome.mend')}</span>
                  <CopyLine line={finding.mend} />
                </div>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function First() {
  const { t } = useWords();
  return (
    <section className={classes.first} aria-labelledby="first">
      <h2 id="first" className={classes.level}>
        {t('welcome.first')}
      </h2>
      <div className={classes.ways}>
        <div className={classes.way}>
          <h3 className={classes.wayTitle}>{t('welcome.demo_title')}</h3>
          <p className={classes.wayText}>{t('welcome.demo_text')}</p>
          <CopyLine line="trainyard demo" />
        </div>
        <div className={classes.way}>
          <h3 className={classes.wayTitle}>{t('welcome.own_title')}</h3>
          <p className={classes.wayText}>{t('welcome.own_text')}</p>
          <div className={classes.lines}>
            <CopyLine line="trainyard run python3 train.py" />
            <CopyLine line="trainyard logs -f @last" />
          </div>
          <Link href="/new" className={classes.form}>
            {t('welcome.own_form')}
          </Link>
        </div>
      </div>
    </section>
  );
}
