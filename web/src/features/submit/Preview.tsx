// What a submit would say, beside whatever form the task is written in: it knows the task alone, not the fields.
import { Button, Code, Kbd, Loader } from '@mantine/core';
import { useMemo } from 'react';
import type { Schemas } from '@/lib/api';
import { useWords, type Translate } from '@/lib/words';
import { CopyText } from '@/components/CopyText';
import { Unbroken } from '@/components/Unbroken';
import { commandLine } from './commandLine';
import type { SpecWish } from './draft';
import classes from './NewTask.module.css';

interface PreviewProps {
  /** The task that is previewed; null while there is none to speak of. */
  spec: SpecWish | null;
  answer: Schemas['Preview'] | undefined;
  /** What keeps it from being queued and belongs to no field, or that the yard cannot be reached. */
  trouble: string | undefined;
  /** A field is marked: the plan waits until it is mended. */
  faulty: boolean;
  /** The plan is of an older version of the task. */
  stale: boolean;
  sending: boolean;
  onSend: () => void;
}

const apple = /Mac|iPhone|iPad/.test(navigator.userAgent);

export function Preview(props: PreviewProps) {
  const { t } = useWords();
  const { answer, spec } = props;
  const line = useMemo(() => (spec ? commandLine(spec) : null), [spec]);
  return (
    <aside className={classes.preview} aria-label={t('submit.plan')}>
      <div className={classes.planHead}>
        <h2 className={classes.planTitle}>{t('submit.plan')}</h2>
        {props.stale && spec && <Loader size={14} aria-label={t('app.loading')} />}
      </div>
      <div className={classes.planBody} aria-live="polite" aria-busy={props.stale}>
        {props.trouble ? (
          <p className={classes.trouble}>
            <Unbroken text={props.trouble} />
          </p>
        ) : props.faulty ? (
          <p className={classes.nothing}>{t('submit.plan_faulty')}</p>
        ) : answer && spec ? (
          <Plan answer={answer} stale={props.stale} />
        ) : (
          <p className={classes.nothing}>{t('submit.plan_none')}</p>
        )}
      </div>
      <div className={classes.send}>
        <Button fullWidth loading={props.sending} onClick={props.onSend} rightSection={<Kbd size="xs" className={classes.kbd} aria-hidden>{apple ? '⌘↵' : 'Ctrl ↵'}</Kbd>} aria-keyshortcuts={apple ? 'Meta+Enter' : 'Control+Enter'}>
          {t('submit.send')}
        </Button>
      </div>
      {line && !props.trouble && !props.faulty && (
        <div className={classes.line_}>
          <div className={classes.labelLine}>
            <span className={classes.label}>{t('submit.command_line')}</span>
            <CopyText text={line.text} what={t('submit.command_line')} />
          </div>
          <Code block className={classes.commandLine} tabIndex={0} aria-label={t('submit.command_line')}>
            <Unbroken text={line.text} />
          </Code>
          {!line.whole && <div className={classes.hint}>{t('submit.command_line_part')}</div>}
        </div>
      )}
    </aside>
  );
}

function Plan(props: { answer: Schemas['Preview']; stale: boolean }) {
  const { t } = useWords();
  const { summary, starts_now, name } = props.answer;
  const rows: [string, string | undefined, string?][] = [
    [t('submit.plan_name'), name],
    [t('submit.plan_devices'), planText(summary.devices, t)],
    [t('submit.plan_starts'), summary.starts?.text ?? (starts_now ? t('submit.plan_now') : undefined), starts_now ? 'now' : undefined],
    [t('submit.plan_environment'), planText(summary.environment, t)],
    [t('submit.plan_retry'), summary.retry?.text],
    [t('submit.plan_survival'), planText(summary.survival, t)],
  ];
  return (
    <dl className={classes.plan} data-stale={props.stale || undefined}>
      {rows.map(([title, words, tone]) =>
        words ? (
          <div key={title} className={classes.planRow}>
            <dt>{title}</dt>
            <dd data-tone={tone}>
              <Unbroken text={words} />
            </dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}

/** A line of the receipt. What it says to somebody at a terminal, it says here to somebody at the page. */
function planText(line: Schemas['Message'] | null | undefined, t: Translate): string | undefined {
  switch (line?.id) {
    case 'receipt.wants':
      return /^\d+$/.test(String(line.args.count)) ? t('submit.plan_wants', { count: Number(line.args.count) }) : t('submit.plan_wants_some', { count: String(line.args.count) });
    case 'receipt.own_shell':
      return t('submit.plan_shell');
    case 'receipt.basics':
      return t('submit.plan_basics');
    case 'receipt.survives_reboot':
      return t('submit.plan_survives_reboot');
    case 'receipt.survives_logout':
      return t('submit.plan_survives_logout');
    case 'receipt.survives_terminal':
      return t('submit.plan_survives_page');
    default:
      return line?.text;
  }
}
