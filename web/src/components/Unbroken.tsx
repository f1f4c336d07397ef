// A text in which no option of a command line is torn at its hyphens, as "--" and "time"; copied, it is the same text.
import { Fragment } from 'react';
import classes from './Unbroken.module.css';

export function Unbroken(props: { text: string }) {
  return props.text.split(/(?<![\w-])(--?[A-Za-z][\w-]*|--(?![\w-]))/).map((part, at) =>
    at % 2 === 1 ? (
      <span key={at} className={classes.option}>
        {part}
      </span>
    ) : (
      <Fragment key={at}>{part}</Fragment>
    ),
  );
}
