// A titled part of a place: heading, what can be done at the right, content on a surface.
import type { ReactNode } from 'react';
import { useId } from 'react';
import classes from './Section.module.css';

export function Section(props: { title: ReactNode; count?: number; actions?: ReactNode; children: ReactNode; bare?: boolean }) {
  const id = useId();
  return (
    <section className={classes.section} aria-labelledby={id}>
      <div className={classes.head}>
        <h2 id={id} className={classes.title}>
          {props.title}
          {props.count !== undefined && <span className={classes.count}>{props.count.toLocaleString()}</span>}
        </h2>
        <div className={classes.actions}>{props.actions}</div>
      </div>
      <div className={props.bare ? undefined : classes.body}>{props.children}</div>
    </section>
  );
}
