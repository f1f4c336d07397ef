// Figures of a device as words; what a device does not tell is null and never 0.
import type { Device } from '@/lib/api';
import { formatBytes } from '@/lib/format';
import type { Translate } from '@/lib/words';

/** "12.5 / 80 GiB": the unit once where both have the same. */
export function bytesOf(used: number, total: number): string {
  const [a, b] = [formatBytes(used), formatBytes(total)];
  const unit = b.slice(b.lastIndexOf(' '));
  return `${a.endsWith(unit) ? a.slice(0, -unit.length) : a} / ${b}`;
}

export function stateWord(state: Device['state'], t: Translate): string {
  return {
    free: t('overview.device_free'),
    leased: t('overview.device_leased'),
    shared: t('overview.device_shared'),
    held: t('overview.device_held'),
    foreign: t('overview.device_foreign'),
    elsewhere: t('overview.device_elsewhere'),
    settling: t('overview.device_settling'),
    unknown: t('overview.device_unknown'),
    lost: t('overview.device_lost'),
    quarantined: t('overview.device_quarantined'),
  }[state];
}

/** A shape for each state, for eyes that see no colour. */
export const stateMark: Record<Device['state'], string> = { free: '○', leased: '●', shared: '◐', held: '‖', foreign: '▲', elsewhere: '◇', settling: '◌', unknown: '?', lost: '✕', quarantined: '✕' };

export const stateTone: Record<Device['state'], 'calm' | 'busy' | 'warn' | 'bad'> = { free: 'calm', leased: 'busy', shared: 'busy', held: 'warn', foreign: 'warn', elsewhere: 'warn', settling: 'calm', unknown: 'warn', lost: 'bad', quarantined: 'bad' };

export function throttleWord(name: string, t: Translate): string {
  if (/power/i.test(name)) return t('overview.throttle_power_cap');
  if (/therm/i.test(name)) return t('overview.throttle_thermal');
  if (/^hw/i.test(name)) return t('overview.throttle_hardware');
  return name;
}

/** Tomorrow at eight, by this browser's clock. */
export function nextMorning(now: Date): Date {
  const then = new Date(now);
  then.setDate(then.getDate() + 1);
  then.setHours(8, 0, 0, 0);
  return then;
}

const two = (value: number) => String(value).padStart(2, '0');
/** A moment as <input type="datetime-local"> writes it. */
export const localText = (at: Date) => `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
