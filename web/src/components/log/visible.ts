// What a line of hostile text is shown as: control characters and those that turn the direction of text around become signs
// that can be seen, so that no line can pretend to be another.
export interface Piece {
  text: string;
  kind: 'plain' | 'control' | 'mark';
}

// C0 but tab, DEL, C1; direction marks, embeddings, overrides, isolates; line and paragraph separators; a byte order mark.
const odd = /[\0-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

const names: Record<string, string> = {
  '\u061c': 'ALM',
  '\u200e': 'LRM',
  '\u200f': 'RLM',
  '\u2028': 'LS',
  '\u2029': 'PS',
  '\u202a': 'LRE',
  '\u202b': 'RLE',
  '\u202c': 'PDF',
  '\u202d': 'LRO',
  '\u202e': 'RLO',
  '\u2066': 'LRI',
  '\u2067': 'RLI',
  '\u2068': 'FSI',
  '\u2069': 'PDI',
  '\ufeff': 'BOM',
};

function signOf(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`; // as terminals write them; few fonts have signs for these
  if (code === 0x7f) return '^?';
  return names[character] ?? code.toString(16).toUpperCase().padStart(2, '0');
}

/** A text in pieces: plain ones, signs, and what is marked. `at` is where the text stands within its line. */
export function pieces(text: string, at: number, marks: readonly [number, number][]): Piece[] {
  const found: Piece[] = [];
  const cut = (part: string, kind: 'plain' | 'mark') => {
    let from = 0;
    for (const sign of part.matchAll(odd)) {
      if (sign.index > from) found.push({ text: part.slice(from, sign.index), kind });
      found.push({ text: signOf(sign[0]), kind: 'control' });
      from = sign.index + 1;
    }
    if (from < part.length) found.push({ text: part.slice(from), kind });
  };
  let from = 0;
  for (const [start, end] of marks) {
    const [first, last] = [Math.max(from, start - at), Math.min(text.length, end - at)];
    if (first >= last) continue;
    cut(text.slice(from, first), 'plain');
    cut(text.slice(first, last), 'mark');
    from = last;
  }
  cut(text.slice(from), 'plain');
  return found;
}

const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/g;

/** About how many columns a text takes; an emoji is two units long and two wide. */
export const columnsOf = (text: string) => text.length + (/[\u1100-\uffff]/.test(text) ? (text.match(wide)?.length ?? 0) : 0);
