// A small button that copies a text, also over plain HTTP where browsers have no clipboard.
import { ActionIcon } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { copyText } from '@/lib/copyText';
import { useWords } from '@/lib/words';

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
