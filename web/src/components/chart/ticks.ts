// Where an axis has its marks, and what stands beside them.
import { formatDuration, type Language } from '@/lib/format';
import type { XKind } from './line';
import type { Scale } from './scale';

export interface Tick {
  place: number; // 0 to 1
  label: string; // empty: a line alone
}

/** At most `most` + 1 ticks of a y axis. */
export function yTicks(scale: Scale, most: number): Tick[] {
  if (scale.kind === 'log') return logTicks(scale, most);
  if (scale.kind === 'symlog') return symlogTicks(scale, most);
  return linearTicks(scale, most);
}

/** The smallest of 1, 2 and 5 times a power of ten that divides the span into no more than `most`. */
function niceStep(span: number, most: number, least = 0): number {
  const rough = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough * 0.999_999) ?? rough;
  return Math.max(step, least);
}

/** Multiples of a step within [from, to]; never more than a hundred, whatever the numbers are. */
function multiples(step: number, from: number, to: number): number[] {
  const first = Math.ceil(from / step - 1e-9);
  const count = Math.floor(to / step + 1e-9) - first + 1;
  if (!Number.isFinite(first) || !(count >= 1) || count > 100) return [];
  return Array.from({ length: count }, (_, i) => (first + i) * step);
}

function linearTicks(scale: Scale, most: number, leastStep = 0): Tick[] {
  const span = Math.min((scale.to / 2 - scale.from / 2) * 2, Number.MAX_VALUE);
  let step = niceStep(span, most, leastStep);
  let values = multiples(step, scale.from, scale.to);
  // A wide step may miss the range, or hit it once, which tells nothing of the distance: 23 to 437 has no multiple of 500.
  for (let tries = 0; values.length < 2 && tries < 2 && step / 2.5 >= leastStep; tries++) {
    step = niceStep(step / 2.5, 1);
    values = multiples(step, scale.from, scale.to);
  }
  return values.map((value) => ({ place: scale.place(value), label: label(value, step) }));
}

/** A number with as many digits as its step wants. */
export function label(value: number, step: number): string {
  const size = Math.max(Math.abs(value), step);
  if (Math.abs(value) < step * 1e-6) return '0';
  if (size >= 1e6 || step < 1e-5) {
    const digits = Math.max(0, Math.min(6, Math.floor(Math.log10(Math.abs(value)) + 1e-9) - Math.floor(Math.log10(step) + 1e-9)));
    if (size < 1e15 && step >= 1 && Math.abs(value) >= 1e6 && digits > 3) return minus(value.toLocaleString('en'));
    return minus(value.toExponential(digits)).replace(/\.?0*e\+?/, (all) => (all.includes('.') ? 'e' : all.replace('+', '')));
  }
  const decimals = Math.max(0, Math.min(8, -Math.floor(Math.log10(step) + 1e-9)));
  const text = value.toFixed(decimals);
  return minus(Math.abs(value) >= 10_000 ? Number(text).toLocaleString('en', { minimumFractionDigits: decimals }) : text);
}
const minus = (text: string) => text.replace(/^-/, '−');

const powerLabel = (power: number) => (power >= -3 && power <= 4 ? minus(String(Number(`1e${power}`))) : `1e${power}`);

function logTicks(scale: Scale, most: number): Tick[] {
  const [low, high] = [Math.log10(scale.from), Math.log10(scale.to)];
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [];
  const ticks: Tick[] = scale.floor > 0 ? [{ place: scale.floor / 2, label: '≤ 0' }] : [];
  if (high - low < 0.7) {
    // Less than a power of ten: as a linear axis counts, placed by the log.
    const step = niceStep(scale.to - scale.from, Math.min(most, 5));
    const between = multiples(step, scale.from, scale.to);
    return [...ticks, ...between.map((value) => ({ place: scale.place(value), label: label(value, step) }))];
  }
  const every = Math.max(1, Math.ceil((high - low) / Math.max(1, most)));
  const room = most / (high - low);
  const named = room >= 3 ? [1, 2, 5] : [1];
  for (let power = Math.floor(low); power <= high; power++) {
    const shown = every === 1 || power % every === 0;
    if (!shown) continue;
    const times = every > 1 ? [1] : room >= 1 ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : [1];
    for (const factor of times) {
      const value = Number(`${factor}e${power}`);
      if (!(value >= scale.from * 0.999_999 && value <= scale.to * 1.000_001)) continue;
      const text = factor === 1 ? powerLabel(power) : power >= -3 && power <= 4 ? minus(String(value)) : `${factor}e${power}`;
      ticks.push({ place: scale.place(value), label: named.includes(factor) ? text : '' });
    }
  }
  return ticks;
}

function symlogTicks(scale: Scale, most: number): Tick[] {
  if (scale.from === -1 && scale.to === 1) return linearTicks(scale, most);
  const found: Tick[] = [];
  const add = (value: number, text: string) => {
    const place = scale.place(value);
    if (place < 0 || place > 1) return;
    if (found.some((tick) => Math.abs(tick.place - place) < 0.8 / Math.max(1, most))) return;
    found.push({ place, label: text });
  };
  add(0, '0'); // zero first: the others give way to it
  const top = Math.floor(Math.log10(Math.max(Math.abs(scale.from), Math.abs(scale.to))));
  for (let power = top; power > top - 20; power--) {
    add(10 ** power, powerLabel(power));
    add(-(10 ** power), `−${powerLabel(power)}`);
  }
  return found.length > 1 ? found.sort((a, b) => a.place - b.place) : linearTicks({ ...scale, kind: 'linear' }, most);
}

const clockSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];

function secondsStep(span: number, most: number): number {
  const rough = span / Math.max(1, most);
  if (rough < 1) return niceStep(span, most);
  return clockSteps.find((step) => step >= rough) ?? Math.ceil(rough / 86_400) * 86_400;
}

/** At most `most` + 1 ticks of an x axis. */
export function xTicks(kind: XKind, scale: Scale, most: number, language: Language): Tick[] {
  if (kind === 'step') {
    // Steps are whole numbers; fractions appear only where someone zoomed in between two, or counts epochs.
    return linearTicks(scale, most, scale.to - scale.from > 4 ? 1 : 0);
  }
  const span = scale.to - scale.from;
  const step = secondsStep(span, most);
  if (kind === 'elapsed') {
    const values = multiples(step, scale.from, scale.to).map((value) => Number(value.toPrecision(12)));
    let labels = values.map((value) => (value === 0 ? '0' : formatDuration(value, language)));
    if (new Set(labels).size < labels.length) labels = values.map((value) => stopwatch(value, step)); // far in, two units are not enough
    return values.map((value, i) => ({ place: scale.place(value), label: labels[i]! }));
  }
  return clockTicks(scale, step, language);
}

const two = (number: number) => String(number).padStart(2, '0');

/** 26:03:07, with the fraction that its step wants. */
function stopwatch(seconds: number, step: number): string {
  const whole = Math.floor(Math.abs(seconds) + 1e-9);
  const fraction = step < 1 ? (Math.abs(seconds) - whole).toFixed(3).slice(1) : '';
  return `${seconds < 0 ? '−' : ''}${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}${fraction}`;
}

/** Times of day in this browser's zone: whole steps of its clock, midnight with its date. */
function clockTicks(scale: Scale, step: number, language: Language): Tick[] {
  // A date is not more than 8.64e12 seconds away.
  if (!(Math.abs(scale.from) < 8e12 && Math.abs(scale.to) < 8e12)) return [];
  const offset = new Date(scale.from * 1000).getTimezoneOffset() * 60;
  return multiples(step, scale.from - offset, scale.to - offset).map((local) => {
    const at = new Date(Math.round((local + offset) * 1000));
    const date = at.toLocaleDateString(language === 'zh' ? 'zh-CN' : 'en-GB', { day: 'numeric', month: 'short' });
    const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
    let text = step < 60 ? `${clock}:${two(at.getSeconds())}` : clock;
    if (step < 1) text += `.${String(at.getMilliseconds()).padStart(3, '0')}`;
    if (step >= 86_400 || (clock === '00:00' && step >= 60)) text = date;
    return { place: scale.place(local + offset), label: text };
  });
}
