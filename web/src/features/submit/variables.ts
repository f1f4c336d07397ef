// Lines of NAME=value as shells and .env files have them.
import type { Variable } from './draft';

/** The variables of a pasted text; null when it does not hold at least one line of NAME=value, or holds anything else. */
export function readVariables(text: string): Variable[] | null {
  const found: Variable[] = [];
  for (const raw of text.split(/\r\n?|\n/)) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const named = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(line);
    if (!named) return null;
    found.push({ name: named[1]!, value: unquoted(named[2]!) });
  }
  return found.length > 0 ? found : null;
}

/** One pair of quotes around the whole is not part of the value. */
function unquoted(value: string): string {
  const quote = value[0];
  return value.length >= 2 && (quote === '"' || quote === "'") && value.indexOf(quote, 1) === value.length - 1 ? value.slice(1, -1) : value;
}
