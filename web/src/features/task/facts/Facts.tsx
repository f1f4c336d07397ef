// What this task was asked with: enough to know it again, and to do it again by hand.
import { Anchor, Code } from '@mantine/core';
import { memo, type ReactNode } from 'react';
import { Link } from 'wouter';
import { At } from '@/components/Since';
import { Section } from '@/components/Section';
import { CopyText } from '@/components/CopyText';
import { commandText, wordText } from '@/lib/shell';
import type { TaskDetail } from '@/lib/api';
import { formatBytes } from '@/lib/format';
import { useWords } from '@/lib/words';
import { resourceRows, ruleRows } from './words';
import classes from './Facts.module.css';

type FactsProps = Pick<TaskDetail, 'spec' | 'priority' | 'checkpoint' | 'code_changed' | 'out_folder' | 'submitted_at' | 'uid'>;

export const Facts = memo(function Facts(props: FactsProps) {
  const { t, language } = useWords();
  const { spec, checkpoint } = props;
  const command = commandText(spec.command.map((word) => wordText(word).text));
  const folder = wordText(spec.workdir).text;
  const shell = Object.keys(spec.environment?.variables ?? {}).length;
  const variables = Object.entries(spec.variables ?? {});
  return (
    <Section title={t('task.facts')}>
      {props.code_changed.length > 0 && (
        <div className={classes.changed} role="note">
          <span>{t('task.code_changed', { count: props.code_changed.length })}</span>
          <span className={classes.paths}>{props.code_changed.join(', ')}</span>
        </div>
      )}
      <dl className={classes.facts}>
        <Fact title={t('task.fact_command')} wide>
          <div className={classes.command}>
            <Code block className={classes.code} tabIndex={0} aria-label={t('task.fact_command')}>
              {command}
            </Code>
            <CopyText text={command} what={t('task.fact_command')} />
          </div>
        </Fact>
        <Fact title={t('task.fact_folder')} wide copy={folder} />
        <Fact title={t('task.fact_environment')} wide>{shell > 0 ? t('task.environment_shell', { count: shell }) : t('task.environment_basic')}</Fact>
        {variables.length > 0 && (
          <Fact title={t('task.fact_variables')} wide>
            <ul className={classes.variables}>
              {variables.map(([name, value]) => (
                <li key={name}>
                  <bdi>{name}</bdi>=<bdi>{wordText(value).text}</bdi>
                </li>
              ))}
            </ul>
          </Fact>
        )}
        {resourceRows(spec, t).map(([title, text]) => (
          <Fact key={title} title={title}>
            {text}
          </Fact>
        ))}
        <Fact title={t('task.priority')}>{props.priority}</Fact>
        {spec.after && spec.after.length > 0 && (
          <Fact title={t('task.fact_after')}>
            {spec.after.map(({ task, on }, at) => (
              <span key={`${task}${at}`}>
                {at > 0 && ', '}
                <Anchor component={Link} href={`/tasks/${task}`} size="sm" underline="always">
                  #{task}
                </Anchor>{' '}
                {{ ok: t('task.after_ok'), any: t('task.after_any'), fail: t('task.after_fail') }[on ?? 'ok']}
              </span>
            ))}
          </Fact>
        )}
        {ruleRows(spec, t, language).map(([title, text]) => (
          <Fact key={title} title={title}>
            {text}
          </Fact>
        ))}
        {checkpoint && (
          <Fact title={t('task.fact_checkpoint')} wide copy={wordText(checkpoint.path).text} more={[t('task.checkpoint_step', { step: checkpoint.step }), formatBytes(checkpoint.bytes), ...(checkpoint.attempt > 0 ? [t('task.run', { number: checkpoint.attempt })] : [])].join(' · ')} />
        )}
        {spec.code?.commit && <Fact title={t('task.fact_commit')} copy={spec.code.commit} />}
        <Fact title={t('task.fact_out')} wide copy={props.out_folder} />
        <Fact title={t('task.fact_submitted')}>
          <At time={props.submitted_at} />
        </Fact>
      </dl>
    </Section>
  );
});

function Fact(props: { title: string; children?: ReactNode; wide?: boolean; copy?: string; more?: string }) {
  return (
    <div className={classes.fact} data-wide={props.wide || undefined}>
      <dt>{props.title}</dt>
      <dd>
        {props.children}
        {props.copy !== undefined && (
          <span className={classes.copied}>
            <span className={classes.path}>{props.copy}</span>
            <CopyText text={props.copy} what={props.title} />
          </span>
        )}
        {props.more && <span className={classes.dim}>{props.more}</span>}
      </dd>
    </div>
  );
}
