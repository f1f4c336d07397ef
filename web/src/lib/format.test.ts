import { expect, test } from 'vitest';
import { formatBytes, formatDuration, formatReal, formatTime } from './format';

test('lengths have one or two units, as the command line writes them', () => {
  expect([0, 0.3, 9.96, 59, 60, 3725, 86_400, 90_000].map((seconds) => formatDuration(seconds, 'en'))).toEqual(['0 s', '300 ms', '9.9 s', '59 s', '1 min', '1 h 2 min', '1 d', '1 d 1 h']);
  expect(formatDuration(1800, 'zh')).toBe('30 分钟');
  expect(formatDuration(5400, 'zh')).toBe('1 小时 30 分');
  expect(formatDuration(Number.NaN, 'en')).toBe('–');
});

test('bytes go up at the rounded border', () => {
  expect([0, 1023, 1024, 1024 * 1024 - 1, 150 * 2 ** 30].map(formatBytes)).toEqual(['0 B', '1023 B', '1 KiB', '1 MiB', '150 GiB']);
});

test('metrics keep four digits, small ones an exponent, and say NaN and infinity', () => {
  expect([0, 0.5, 0.31274, 1e-5, 3e-4, 123456, 1.5e9, 'NaN', '-Infinity', Infinity].map(formatReal)).toEqual(['0', '0.5', '0.3127', '1e-5', '3e-4', '123,456', '1,500,000,000', 'NaN', '−∞', '∞']);
});

test('a time of today is its clock alone', () => {
  const now = new Date(2026, 10, 30, 18, 0);
  expect(formatTime(new Date(2026, 10, 30, 9, 5).toISOString(), 'en', now)).toBe('09:05');
  expect(formatTime(new Date(2026, 2, 3, 9, 5).toISOString(), 'en', now)).toBe('3 Mar 09:05');
  expect(formatTime(new Date(2025, 2, 3, 9, 5).toISOString(), 'en', now)).toBe('3 Mar 2025 09:05');
  expect(formatTime('no time', 'en', now)).toBe('–');
});
