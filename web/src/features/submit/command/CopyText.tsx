// A small button that copies a text, also over plain HTTP where browsers have no clipboard.
import { ActionIcon } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useWords } from '@/lib/words';

/** Whether it worked. The old way is taken where the new one is not there or is refused. */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (window.isSecureContext && navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    // refused: the old way
  }
  const focused = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.setAttribute('readonly', '');
  area.style.position = 'fixed';
  area.style.opacity = '0';
  document.body.append(area);
  area.select();
  try {
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
}

export function CopyText(props: { text: string; what: string }) {
  const { t } = useWords();
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  const label = done ? t('command.copied') : t('command.copy', { what: props.what });
  return (
    <ActionIcon variant="subtle" color="gray" size="sm" aria-label={label} title={label} onClick={() => void copyText(props.text).then(setDone)}>
      {done ? <IconCheck size={15} stroke={1.8} /> : <IconCopy size={15} stroke={1.6} />}
    </ActionIcon>
  );
}
