// Says that the yard tells nothing any more, and of when the figures are that still stand here.
import { useNow } from '@/components/Since';
import { useLiveState } from '@/lib/useLive';
import { useWords } from '@/lib/words';
import classes from './Stale.module.css';

const kStale = 5000; // ms without a word: a yard that is started anew takes less

/** Since when (ms) nothing was heard, if that is long enough to matter; else null. */
export function useStale(): number | null {
  const { line, heard } = useLiveState();
  const now = useNow();
  return line !== 'live' && heard > 0 && now - heard >= kStale ? heard : null;
}

export function Stale(props: { since: number | null }) {
  const { t } = useWords();
  const now = useNow();
  const { since } = props;
  // Always there, so that it is heard when it begins to speak; the age is not read out each second.
  return (
    <div role="status" className={classes.place}>
      {since !== null && (
        <p className={classes.stale}>
          {t('line.stale')} <span aria-hidden>{t('line.stale_age', { age: Math.max(0, Math.floor((now - since) / 1000)) })}</span>
        </p>
      )}
    </div>
  );
}
