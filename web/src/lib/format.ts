// Numbers as people read them; the same rules as the command line (src/words/format.cc).
export type Language = 'en' | 'zh';

interface Unit {
  millis: number;
  english: string;
  chinese: string; // beside another unit
  alone: string; // 30 分钟, but 1 小时 30 分
}
const units: Unit[] = [
  { millis: 86_400_000, english: ' d', chinese: ' 天', alone: ' 天' },
  { millis: 3_600_000, english: ' h', chinese: ' 小时', alone: ' 小时' },
  { millis: 60_000, english: ' min', chinese: ' 分', alone: ' 分钟' },
  { millis: 1000, english: ' s', chinese: ' 秒', alone: ' 秒' },
];

const tenths = (value: number) => (value % 10 ? `${Math.floor(value / 10)}.${value % 10}` : `${value / 10}`);

/** `seconds` in one or two units: "2 h 5 min", "1.5 s", "300 ms". */
export function formatDuration(seconds: number, language: Language): string {
  const chinese = language === 'zh';
  const millis = Math.trunc(seconds * 1000);
  if (!Number.isFinite(millis)) return '–';
  if (millis < 0) return `-${formatDuration(-seconds, language)}`;
  if (millis > 0 && millis < 1000) return `${millis}${chinese ? ' 毫秒' : ' ms'}`;
  if (millis < 10_000) return tenths(Math.floor(millis / 100)) + (chinese ? ' 秒' : ' s');
  const at = units.findIndex((unit) => millis >= unit.millis);
  const large = units[at]!;
  const small = units[at + 1];
  const whole = Math.floor(millis / large.millis);
  const rest = small ? Math.floor((millis % large.millis) / small.millis) : 0;
  if (!small || rest === 0) return `${whole}${chinese ? large.alone : large.english}`;
  return `${whole}${chinese ? large.chinese : large.english} ${rest}${chinese ? small.chinese : small.english}`;
}

/** "1.5 GiB". */
export function formatBytes(bytes: number): string {
  if (bytes < 0) return `-${formatBytes(-bytes)}`;
  const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  let power = 0;
  let amount = bytes;
  for (; amount >= 1023.95 && power + 1 < names.length; power++) amount /= 1024;
  return `${power === 0 ? bytes : tenths(Math.round(amount * 10))} ${names[power]}`;
}

/** A metric: four significant digits, exponents only where they help, NaN and infinities by name. */
export function formatReal(value: number | string): string {
  const number = typeof value === 'string' ? Number(value) : value;
  if (Number.isNaN(number)) return 'NaN';
  if (!Number.isFinite(number)) return number < 0 ? '−∞' : '∞';
  if (number === 0) return '0';
  const size = Math.abs(number);
  if (Number.isInteger(number) && size < 1e15) return size >= 1e5 ? number.toLocaleString('en') : String(number);
  if (size >= 1e6 || size < 1e-3) return number.toExponential(3).replace(/\.?0+e/, 'e').replace('e+', 'e');
  return String(Number(number.toPrecision(4)));
}

const two = (number: number) => String(number).padStart(2, '0');

/** An ISO time in this browser's zone: "14:05" today, "3 Mar 14:05", with the year when it is another one. */
export function formatTime(iso: string, language: Language, now = new Date()): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return '–';
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (at.toDateString() === now.toDateString()) return clock;
  const year = at.getFullYear() === now.getFullYear() ? undefined : ('numeric' as const);
  const day = at.toLocaleDateString(language === 'zh' ? 'zh-CN' : 'en-GB', { day: 'numeric', month: 'short', year });
  return `${day} ${clock}`;
}
