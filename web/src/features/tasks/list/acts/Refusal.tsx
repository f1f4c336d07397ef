// What the yard answered instead of doing it: a sentence at the place where it was asked, until it is closed.
import { Alert } from '@mantine/core';
import { useWords } from '@/lib/words';
import classes from './Refusal.module.css';

export function Refusal(props: { text: string | null; onClose: () => void }) {
  const { t } = useWords();
  if (props.text === null) return null;
  return (
    <Alert className={classes.refusal} role="alert" color="red" variant="light" withCloseButton closeButtonLabel={t('tasks.close_refusal')} onClose={props.onClose}>
      <span className={classes.text}>{props.text}</span>
    </Alert>
  );
}
