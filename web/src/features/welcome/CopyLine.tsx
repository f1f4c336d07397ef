// A command to take along: monospace, as it is to be typed, with a button that copies it.
import { ActionIcon } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useWords } from '@/lib/words';
import { copyText } from '@/lib/copyText';
import classes from './CopyLine.module.css';

type State = 'idle' | 'copied' | 'selected';

export function CopyLine(props: { line: string }) {
  const { t } = useWords();
  const [state, setState] = useState<State>('idle');
  const code = useRef<HTMLElement>(null);
  useEffect(() => {
    if (state === 'idle') return;
    const timer = setTimeout(() => setState('idle'), 2500);
    return () => clearTimeout(timer);
  }, [state]);

  const copy = async () => {
    if (await copyText(props.line)) return setState('copied');
    // Nothing may write the clipboard here: the line is selected, one key remains.
    const range = document.createRange();
    if (code.current) range.selectNodeContents(code.current);
    getSelection()?.removeAllRanges();
    getSelection()?.addRange(range);
    setState('selected');
  };
  const words = state === 'copied' ? t('welcome.copied') : state === 'selected' ? t('welcome.copy_by_hand') : '';
  return (
    <div className={classes.box}>
      <code ref={code} className={classes.line}>
        {props.line}
      </code>
      <span className={classes.said} role="status">
        {words}
      </span>
      <ActionIcon variant="subtle" color="gray" size="sm" aria-label={t('welcome.copy_line', { line: props.line })} title={t('welcome.copy')} onClick={() => void copy()}>
        {state === 'copied' ? <IconCheck size={15} stroke={1.8} /> : <IconCopy size={15} stroke={1.6} />}
      </ActionIcon>
    </div>
  );
}
