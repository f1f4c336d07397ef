// The page's own sentences, from messages/web: `t('queue.waits', { count: 3 })`. Ids and arguments are checked when the
// page is compiled. Sentences of the yard (reasons, outcomes) come from it in the language that was asked for.
import { createContext, use, useCallback, useEffect, useMemo, useState, type ReactNode } from 'react';
import type { Words } from '@gen/words';
import { formatBytes, formatDuration, formatReal, formatTime, type Language } from './format';

type Arguments = Record<string, string | number>;
export type WordId = keyof Words;
export type Translate = <Id extends WordId>(id: Id, ...args: Words[Id] extends undefined ? [] : [Words[Id]]) => string;
type Catalogue = Record<string, string>;

/** Puts arguments into a text: {name}, {n:int}, {b:bytes}, {s:duration}, {x:real}, {at:time}, {p:percent}, {n?task|tasks}. */
export function fill(text: string, args: Arguments | undefined, language: Language): string {
  return text.replace(/\{\{|\}\}|\{([a-z_]+)(?::([a-z]+)|\?([^|}]*)\|([^}]*))?\}/g, (all, name, kind, one, many) => {
    if (all === '{{') return '{';
    if (all === '}}') return '}';
    const value = args?.[name as string];
    if (value === undefined) return '';
    if (one !== undefined) return Number(value) === 1 ? one : many;
    switch (kind) {
      case 'bytes':
        return formatBytes(Number(value));
      case 'duration':
        return formatDuration(Number(value), language);
      case 'real':
        return formatReal(value);
      case 'percent':
        return `${Math.round(Number(value))} %`;
      case 'time':
        return formatTime(String(value), language);
      case 'int':
        return Number(value).toLocaleString(language === 'zh' ? 'zh-CN' : 'en');
      default:
        return String(value);
    }
  });
}

const kept = 'trainyard.language';

/** The language chosen here before, else the browser's first that we have. */
export function firstLanguage(): Language {
  const chosen = localStorage.getItem(kept);
  if (chosen === 'en' || chosen === 'zh') return chosen;
  for (const tag of navigator.languages) {
    if (tag.toLowerCase().startsWith('zh')) return 'zh';
    if (tag.toLowerCase().startsWith('en')) return 'en';
  }
  return 'en';
}

export async function loadCatalogue(language: Language): Promise<Catalogue> {
  const made = language === 'zh' ? await import('@gen/zh.json') : await import('@gen/en.json');
  return made.default as Catalogue;
}

interface Spoken {
  language: Language;
  t: Translate;
  speak: (language: Language) => void;
}
const Context = createContext<Spoken | null>(null);

/** `first` and its catalogue are there before anything is shown, so that no id is ever seen. */
export function WordsProvider(props: { first: Language; catalogue: Catalogue; children: ReactNode }) {
  const [spoken, setSpoken] = useState({ language: props.first, catalogue: props.catalogue });
  const speak = useCallback((language: Language) => {
    localStorage.setItem(kept, language);
    void loadCatalogue(language).then((catalogue) => setSpoken({ language, catalogue }));
  }, []);
  useEffect(() => {
    document.documentElement.lang = spoken.language === 'zh' ? 'zh-CN' : 'en';
  }, [spoken.language]);
  const value = useMemo<Spoken>(() => {
    const t = ((id: string, args?: Arguments) => fill(spoken.catalogue[id] ?? id, args, spoken.language)) as Translate;
    return { language: spoken.language, t, speak };
  }, [spoken, speak]);
  return <Context value={value}>{props.children}</Context>;
}

export function useWords(): Spoken {
  const spoken = use(Context);
  if (!spoken) throw new Error('useWords outside of WordsProvider');
  return spoken;
}
