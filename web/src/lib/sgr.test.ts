import { describe, expect, it } from 'vitest';
import { contrast, logColors, plainText, sgrSpans, type Scheme } from './sgr';

const spans = (text: string, scheme: Scheme = 'dark') => sgrSpans(text, scheme);
const schemes: Scheme[] = ['light', 'dark'];

describe('sgr', () => {
  it('leaves text without sequences whole', () => {
    expect(spans('step 1/3')).toEqual([{ text: 'step 1/3' }]);
    expect(spans('')).toEqual([]);
  });

  it('gives bold, italic, underline and strike until they are taken back', () => {
    expect(spans('\x1b[1;3mA\x1b[22mB\x1b[23;4;9mC\x1b[mD')).toEqual([
      { text: 'A', bold: true, italic: true },
      { text: 'B', italic: true },
      { text: 'C', underline: true, strike: true },
      { text: 'D' },
    ]);
  });

  it('knows 16, 256 and true colours in both spellings', () => {
    const color = (code: string) => spans(`\x1b[${code}mx`)[0]!.color;
    expect(color('31')).toBe('#ff7b72');
    expect(color('38;5;9')).toBe(color('91'));
    expect(color('38;5;226')).toBe('#ffff00');
    expect(color('38;2;200;220;240')).toBe('#c8dcf0');
    expect(color('38:2::200:220:240')).toBe('#c8dcf0');
    expect(color('38:2:200:220:240')).toBe('#c8dcf0');
    expect(color('38:5:226')).toBe('#ffff00');
  });

  it('goes on with what follows an extended colour', () => {
    expect(spans('\x1b[38;5;226;1mx')[0]).toEqual({ text: 'x', color: '#ffff00', bold: true });
  });

  it('swaps both colours when inverse, the default ones too', () => {
    const [inverse] = spans('\x1b[7mx');
    expect([inverse!.color, inverse!.background]).toEqual([logColors.dark.background, logColors.dark.text]);
  });

  it('joins neighbours that look the same', () => {
    expect(spans('\x1b[32ma\x1b[0m\x1b[32mb')).toHaveLength(1);
  });

  it('drops sequences that are not of colour, unknown codes, and torn ones', () => {
    expect(spans('a\x1b[2Kb\x1b[?25lc\x1b[73md\x1b]e\x1b[1;')).toEqual([{ text: 'abcde' }]);
    expect(spans('\x1b[38;5;999mx\x1b[38;2;1mx\x1b[38mx')).toEqual([{ text: 'xxx' }]);
  });

  it('can be read whatever colours a program chose, in both themes', () => {
    const codes = ['2', '2;7', '7'];
    for (let i = 0; i < 256; i++) codes.push(`38;5;${i}`, `48;5;${i}`, `2;38;5;${i}`, `38;5;${i};48;5;${(i * 7) % 256}`, `7;38;5;${i}`);
    for (let i = 0; i < 500; i++) codes.push(`38;2;${(i * 37) % 256};${(i * 101) % 256};${(i * 197) % 256}`);
    for (const scheme of schemes) {
      for (const code of codes) {
        const { color, background } = sgrSpans(`\x1b[${code}mx`, scheme)[0]!;
        const seen = contrast(color ?? logColors[scheme].text, background ?? logColors[scheme].background);
        expect(seen, `${scheme} ${code}`).toBeGreaterThanOrEqual(4.5);
      }
    }
  });

  it('leaves a colour alone that can be read', () => {
    expect(spans('\x1b[38;2;255;200;0mx')[0]!.color).toBe('#ffc800');
  });

  it('takes linear time for hostile text', () => {
    const began = performance.now();
    for (const piece of ['\x1b', '\x1b[', '\x1b[1', '\x1b[;;;;;;;', '\x1b[1;', '\x1b[38;2', ';', '\x1b[ ']) {
      const text = '\x1b[' + piece.repeat(200_000);
      sgrSpans(text, 'dark');
      plainText(text);
    }
    expect(performance.now() - began).toBeLessThan(4000);
  });

  it('gives the same spans for the same line again', () => {
    const line = '\x1b[31mloss\x1b[0m 0.5';
    expect(spans(line)).toBe(spans(line));
    expect(spans(line)).not.toBe(sgrSpans(line, 'light'));
  });

  it('tells the text alone', () => {
    expect(plainText('\x1b[31mloss\x1b[0m 0.5')).toBe('loss 0.5');
  });
});
