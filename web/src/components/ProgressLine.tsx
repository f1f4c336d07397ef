// How far a training is: a bar with "epoch 3 of 20", a share and the time left, in widths that do not jump.
import { useWords } from '@/lib/words';
import { formatReal } from '@/lib/format';
import type { Task } from '@/lib/api';
import classes from './ProgressLine.module.css';

export function ProgressLine(props: { progress: Task['progress']; timeLeft: number | null; compact?: boolean }) {
  const { t } = useWords();
  const { progress } = props;
  if (!progress) return <span className={classes.none}>{t('progress.none')}</span>;
  const { unit, done, total, fraction } = progress;
  const kind = unit === 'epoch' || unit === 'step' ? unit : 'item';
  const words = total === null ? t(`progress.${kind}_open`, { done: formatReal(done) }) : t(`progress.${kind}`, { done: formatReal(done), total: formatReal(total) });
  const part = fraction === null ? null : Math.min(1, Math.max(0, fraction));
  const left = props.timeLeft === null ? '' : props.timeLeft <= 0 ? t('progress.finishing') : t('progress.time_left', { left: props.timeLeft < 60 ? Math.ceil(props.timeLeft) : props.timeLeft });
  return (
    <div className={classes.line} data-compact={props.compact || undefined} data-live>
      {part !== null && (
        <div className={classes.bar} role="progressbar" aria-label={t('progress.label')} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(part * 100)} aria-valuetext={`${words} ${left}`}>
          {/* A width, not a transform: the rounded end stays round. */}
          <div className={classes.done} style={{ width: `${part * 100}%` }} />
        </div>
      )}
      <div className={classes.words}>
        <span title={words}>{words}</span>
        {part !== null && <span className={classes.part}>{Math.floor(part * 100)} %</span>}
        <span className={classes.left}>{left}</span>
      </div>
    </div>
  );
}
