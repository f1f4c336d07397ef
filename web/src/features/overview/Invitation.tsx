// Instead of empty tables: how the first task comes here.
import { Button } from '@mantine/core';
import { Link } from 'wouter';
import { CopyLine } from '@/features/welcome';
import { useWords } from '@/lib/words';
import classes from './Invitation.module.css';

export function Invitation() {
  const { t } = useWords();
  return (
    <section className={classes.invitation} aria-labelledby="invitation">
      <h2 id="invitation" className={classes.title}>
        {t('overview.invite_title')}
      </h2>
      <p className={classes.text}>{t('overview.invite_text')}</p>
      <div className={classes.first}>
        <CopyLine line="trainyard run python3 train.py" />
        <Button component={Link} href="/new" size="sm">
          {t('overview.new_task')}
        </Button>
      </div>
      <p className={classes.text}>{t('overview.invite_demo')}</p>
      <CopyLine line="trainyard demo" />
    </section>
  );
}
