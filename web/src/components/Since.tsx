// A span of time that grows while it is looked at, or a moment; one clock for the whole page.
import { useSyncExternalStore } from 'react';
import { useWords } from '@/lib/words';
import { formatDuration, formatTime } from '@/lib/format';

let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const told of [...listeners]) told();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
};

/** This browser's clock in whole seconds (ms), told once a second. */
export const useNow = () => useSyncExternalStore(subscribe, () => now);

/** How long since `from`, until `to` or now: "5 min 3 s", with the moment as a title. */
export function Since(props: { from: string; to?: string | null }) {
  const { language } = useWords();
  const moving = useNow();
  const end = props.to ? Date.parse(props.to) : moving;
  const seconds = Math.max(0, (end - Date.parse(props.from)) / 1000);
  return (
    <time className="number" dateTime={props.from} title={formatTime(props.from, language)}>
      {formatDuration(seconds >= 1 ? Math.floor(seconds) : seconds, language)}
    </time>
  );
}

/** A moment: "14:05". */
export function At(props: { time: string }) {
  const { language } = useWords();
  return (
    <time className="number" dateTime={props.time} title={new Date(props.time).toLocaleString(language === 'zh' ? 'zh-CN' : 'en-GB')}>
      {formatTime(props.time, language)}
    </time>
  );
}
