import { memo, type CSSProperties, type ReactNode } from 'react';
import { plainText, sgrSpans, type Scheme } from '@/lib/sgr';
import { useWords } from '@/lib/words';
import type { Line } from './cache';
import classes from './LogView.module.css';
import { markRanges } from './search';
import { pieces } from './visible';

export interface LogRowProps {
  line: number; // from 0
  y: number;
  item: Line | undefined;
  numbered: boolean;
  wrap: boolean;
  scheme: Scheme;
  match: 'current' | 'one' | null;
  pattern: RegExp | null; // what to mark within a match
  selected: boolean;
}

/** One line of the log. Its text is text: whatever a program wrote, nothing of it becomes markup. */
export const LogRow = memo(function LogRow(props: LogRowProps) {
  const { line, y, item, numbered, match } = props;
  const { t } = useWords();
  return (
    <div
      className={classes.row}
      style={{ transform: `translateY(${y}px)` }}
      data-line={line}
      data-match={match ?? undefined}
      data-selected={props.selected || undefined}
      data-removed={item?.text.startsWith('…') || undefined}
    >
      {/* The number is drawn by the style sheet, so that it is in no selection. */}
      {numbered && <span className={classes.number} data-number={line + 1} aria-hidden />}
      <bdi className={classes.text} dir="ltr">
        {item ? <Text {...props} item={item} /> : <span className={classes.coming} aria-hidden />}
        {item?.cut && <span className={classes.cut}>… {t('log.cut')}</span>}
      </bdi>
    </div>
  );
});

function Text({ item, scheme, match, pattern }: LogRowProps & { item: Line }): ReactNode {
  const marks = match && pattern ? markRanges(plainText(item.text), pattern) : [];
  let at = 0;
  return sgrSpans(item.text, scheme).map((span, i) => {
    const parts = pieces(span.text, at, marks);
    at += span.text.length;
    const content = parts.map((piece, j) =>
      piece.kind === 'plain' ? (
        piece.text
      ) : piece.kind === 'mark' ? (
        <mark key={j} className={classes.mark}>
          {piece.text}
        </mark>
      ) : (
        <span key={j} className={classes.control}>
          {piece.text}
        </span>
      ),
    );
    const style: CSSProperties = {};
    if (span.color) style.color = span.color;
    if (span.background) style.backgroundColor = span.background;
    if (span.bold) style.fontWeight = 700;
    if (span.italic) style.fontStyle = 'italic';
    if (span.underline || span.strike) style.textDecoration = [span.underline && 'underline', span.strike && 'line-through'].filter(Boolean).join(' ');
    return (
      <span key={i} style={style}>
        {content}
      </span>
    );
  });
}
