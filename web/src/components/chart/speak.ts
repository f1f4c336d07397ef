// Numbers of a chart in words.
import { formatDuration, formatReal, type Language } from '@/lib/format';
import type { Translate } from '@/lib/words';
import type { XKind } from './line';

export const valueText = (value: number, unit: string | undefined) =>
  unit && Number.isFinite(value) ? `${formatReal(value)} ${unit}` : formatReal(value);

const two = (number: number) => String(number).padStart(2, '0');

/** An x with its unit: "step 1200", "30 Nov 14:05:09", "2 h 5 min". */
export function xText(kind: XKind, x: number, language: Language, t: Translate): string {
  if (kind === 'step') return t('chart.x_step', { value: formatReal(Number(x.toPrecision(12))) });
  if (kind === 'elapsed') return formatDuration(x, language);
  const at = new Date(x * 1000);
  if (Number.isNaN(at.getTime())) return '–';
  const day = at.toLocaleDateString(language === 'zh' ? 'zh-CN' : 'en-GB', { day: 'numeric', month: 'short' });
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

export const xName = (kind: XKind, t: Translate) =>
  kind === 'step' ? t('chart.x_step_name') : kind === 'time' ? t('chart.x_time_name') : t('chart.x_elapsed_name');
