// "Not before", as the command line reads it: 22:00, +30m, 2026-11-30 22:00, or a moment with its zone.

const unitSeconds: Record<string, number> = { d: 86_400, h: 3600, m: 60, min: 60, s: 1, ms: 0.001 };

/** Seconds of 90m, 1h30m, 45s, 2d, 02:30:00 or a number of seconds; null when it is none of these. */
export function readLength(text: string): number | null {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  const clock = /^(?:(\d+)-)?(\d+):(\d{1,2}):(\d{1,2})$/.exec(text);
  if (clock) return Number(clock[1] ?? 0) * 86_400 + Number(clock[2]) * 3600 + Number(clock[3]) * 60 + Number(clock[4]);
  if (!/^(\d+(\.\d+)?(d|h|min|ms|m|s))+$/.test(text)) return null;
  let seconds = 0;
  for (const [, amount, , unit] of text.matchAll(/(\d+(\.\d+)?)(d|h|min|ms|m|s)/g)) seconds += Number(amount) * unitSeconds[unit!]!;
  return seconds;
}

/** The moment; null when the text names none. Times without a zone are this browser's. */
export function readBegin(typed: string, now: Date): Date | null {
  const text = typed.trim();
  if (text.startsWith('+')) {
    const seconds = readLength(text.slice(1));
    return seconds === null ? null : new Date(now.getTime() + seconds * 1000);
  }
  const clock = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(text);
  if (clock) {
    const [hour, minute, second] = [Number(clock[1]), Number(clock[2]), Number(clock[3] ?? 0)];
    if (hour > 23 || minute > 59 || second > 59) return null;
    const at = (days: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour, minute, second);
    return at(0) > now ? at(0) : at(1);
  }
  const local = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt ](\d{1,2}):(\d{2})(?::(\d{2}))?)?$/.exec(text);
  if (local) {
    const [year, month, day, hour, minute, second] = local.slice(1).map((part) => Number(part ?? 0)) as [number, number, number, number, number, number];
    if (hour > 23 || minute > 59 || second > 59) return null;
    const at = new Date(year, month - 1, day, hour, minute, second);
    // 30 February becomes 2 March; nobody meant that.
    return at.getMonth() === month - 1 && at.getDate() === day ? at : null;
  }
  if (!/^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?\s*(Z|z|[+-]\d\d:?\d\d)$/.test(text)) return null;
  const zoned = new Date(text.replace(' ', 'T'));
  return Number.isNaN(zoned.getTime()) ? null : zoned;
}
