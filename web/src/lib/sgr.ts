// Colours of a log: text with SGR sequences (`ESC [ … m`) becomes spans that can be shown. Programs choose their colours for
// a terminal of unknown background; here each is moved towards white or black until it can be read on ours.
export type Scheme = 'light' | 'dark';

interface Span {
  text: string;
  color?: string; // #rrggbb; absent: the log's own
  background?: string;
  bold?: true;
  italic?: true;
  underline?: true;
  strike?: true;
}

/** What a log is shown in; LogView.module.css says the same. */
export const logColors = {
  light: { text: '#1f2328', background: '#fbfcfd' },
  dark: { text: '#d5d9de', background: '#16181b' },
} as const;

const base: Record<Scheme, string[]> = {
  light: [
    ...['#24292f', '#b42318', '#1a7f37', '#8a5a00', '#0a58ca', '#8e3bb0', '#0b7285', '#6a737d'],
    ...['#57606a', '#cf222e', '#1f883d', '#9a6700', '#1a6fe0', '#a347c7', '#0c8599', '#30363d'],
  ],
  dark: [
    ...['#7d8590', '#ff7b72', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#d0d7de'],
    ...['#9aa4af', '#ffa198', '#7ee787', '#f2cc60', '#a5d6ff', '#e2c5ff', '#85e8ef', '#ffffff'],
  ],
};

type Rgb = [number, number, number];
const rgbOf = (hex: string): Rgb => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Rgb;
const hexOf = (rgb: Rgb) => `#${rgb.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

function luminance(rgb: Rgb): number {
  const [r, g, b] = rgb.map((part) => (part <= 10.31 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4)) as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrastOf(a: Rgb, b: Rgb): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}
/** The contrast of two #rrggbb as WCAG counts it: 1 to 21. */
export const contrast = (a: string, b: string) => contrastOf(rgbOf(a), rgbOf(b));

const mix = (a: Rgb, b: Rgb, share: number) => a.map((part, i) => part + (b[i]! - part) * share) as Rgb;
const white: Rgb = [255, 255, 255];
const black: Rgb = [0, 0, 0];

/** `color`, or as little lighter or darker as it takes to be read on `background`. */
function legible(color: Rgb, background: Rgb): Rgb {
  if (contrastOf(color, background) >= 4.55) return color;
  const end = contrastOf(white, background) >= contrastOf(black, background) ? white : black;
  let [short, enough] = [0, 1];
  for (let i = 0; i < 8; i++) {
    const middle = (short + enough) / 2;
    if (contrastOf(mix(color, end, middle), background) >= 4.55) enough = middle;
    else short = middle;
  }
  return mix(color, end, enough);
}

// A colour of the terminal: none, one of 256, or true.
const none = -1;
const trueColor = 0x1000000;

function rgbOfColor(color: number, scheme: Scheme): Rgb {
  if (color >= trueColor) return [(color >> 16) & 255, (color >> 8) & 255, color & 255];
  if (color < 16) return rgbOf(base[scheme][color]!);
  if (color >= 232) return [8 + (color - 232) * 10, 8 + (color - 232) * 10, 8 + (color - 232) * 10];
  const step = (digit: number) => (digit === 0 ? 0 : 55 + digit * 40);
  const cube = color - 16;
  return [step(Math.floor(cube / 36)), step(Math.floor(cube / 6) % 6), step(cube % 6)];
}

interface Pen {
  color: number;
  background: number;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  inverse: boolean;
  strike: boolean;
}
const plainPen: Pen = {
  color: none,
  background: none,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
  strike: false,
};

/** One sequence's numbers applied to the pen. What is unknown changes nothing. */
function apply(parameters: string, pen: Pen) {
  const groups = parameters.split(';');
  for (let i = 0; i < groups.length; i++) {
    const parts = groups[i]!.split(':');
    const code = parts[0] === '' ? 0 : Number(parts[0]);
    if (code === 0) Object.assign(pen, plainPen);
    else if (code === 1) pen.bold = true;
    else if (code === 2) pen.dim = true;
    else if (code === 3) pen.italic = true;
    else if (code === 4) pen.underline = parts[1] !== '0';
    else if (code === 7) pen.inverse = true;
    else if (code === 9) pen.strike = true;
    else if (code === 21) pen.underline = true;
    else if (code === 22) pen.bold = pen.dim = false;
    else if (code === 23) pen.italic = false;
    else if (code === 24) pen.underline = false;
    else if (code === 27) pen.inverse = false;
    else if (code === 29) pen.strike = false;
    else if (code >= 30 && code <= 37) pen.color = code - 30;
    else if (code >= 40 && code <= 47) pen.background = code - 40;
    else if (code >= 90 && code <= 97) pen.color = code - 82;
    else if (code >= 100 && code <= 107) pen.background = code - 92;
    else if (code === 39) pen.color = none;
    else if (code === 49) pen.background = none;
    else if (code === 38 || code === 48) {
      // 38;5;n and 38;2;r;g;b take the groups after them; 38:5:n and 38:2::r:g:b have all in their own.
      const own = parts.length > 1;
      const words = own ? parts.slice(1) : groups.slice(i + 1, i + 5);
      if (own && words[0] === '2' && words.length > 4) words.splice(1, 1);
      const color = extendedColor(words);
      if (!own) i += words[0] === '5' ? 2 : words[0] === '2' ? 4 : 0;
      if (color === none) continue;
      if (code === 38) pen.color = color;
      else pen.background = color;
    }
  }
}

function extendedColor([kind, ...words]: string[]): number {
  const byte = (word: string | undefined) => (word !== undefined && /^\d{1,3}$/.test(word) && Number(word) < 256 ? Number(word) : -1);
  if (kind === '5') return byte(words[0]);
  const [r, g, b] = [byte(words[0]), byte(words[1]), byte(words[2])];
  return kind === '2' && r >= 0 && g >= 0 && b >= 0 ? trueColor | (r << 16) | (g << 8) | b : none;
}

type Style = Omit<Span, 'text'>;
const styles = new Map<string, Style>();

/** How a pen looks; the same object for the same look, so that neighbours can be told to be alike. */
function styleOf(pen: Pen, scheme: Scheme): Style {
  const key = `${scheme}${pen.color},${pen.background},${[pen.bold, pen.dim, pen.italic, pen.underline, pen.inverse, pen.strike].map(Number).join('')}`;
  const known = styles.get(key);
  if (known) return known;
  const ours = { text: rgbOf(logColors[scheme].text), background: rgbOf(logColors[scheme].background) };
  let color = pen.color === none ? ours.text : rgbOfColor(pen.color, scheme);
  let background = pen.background === none ? ours.background : rgbOfColor(pen.background, scheme);
  if (pen.inverse) [color, background] = [background, color];
  if (pen.dim) color = mix(color, background, 0.4);
  color = legible(color, background);

  const style: Style = {};
  const colored = pen.color !== none || pen.background !== none || pen.inverse || pen.dim;
  if (colored) style.color = hexOf(color);
  if (pen.background !== none || pen.inverse) style.background = hexOf(background);
  for (const name of ['bold', 'italic', 'underline', 'strike'] as const) if (pen[name]) style[name] = true;
  if (styles.size > 20_000) styles.clear(); // a log of many true colours
  styles.set(key, style);
  return style;
}

// ESC [ with its parameters; any other sequence of two characters; or ESC alone. Each is tried where an ESC stands and reads
// every character once.
const escape = /\x1b(?:\[([0-?]*)[ -/]*([@-~])?|[^\x1b[]?)/g;

function parse(text: string, scheme: Scheme): Span[] {
  const pen = { ...plainPen };
  const spans: Span[] = [];
  let last: Style | null = null;
  let from = 0;
  const put = (piece: string) => {
    if (piece === '') return;
    const style = styleOf(pen, scheme);
    if (style === last) spans[spans.length - 1]!.text += piece;
    else spans.push({ text: piece, ...style });
    last = style;
  };
  for (const found of text.matchAll(escape)) {
    put(text.slice(from, found.index));
    from = found.index + found[0].length;
    const parameters = found[1];
    if (found[2] === 'm' && parameters !== undefined && /^[\d;:]*$/.test(parameters)) apply(parameters, pen);
  }
  put(text.slice(from));
  return spans;
}

const kept = new Map<string, readonly Span[]>();
let keptLength = 0;

/** The spans of a line; without any sequence, one. */
export function sgrSpans(text: string, scheme: Scheme): readonly Span[] {
  if (!text.includes('\x1b')) return text === '' ? [] : [{ text }];
  const key = scheme + text;
  let spans = kept.get(key);
  if (spans) return spans;
  spans = parse(text, scheme);
  if (keptLength > 1_000_000) {
    kept.clear();
    keptLength = 0;
  }
  kept.set(key, spans);
  keptLength += key.length;
  return spans;
}

/** The text without its sequences, as search sees it. */
export const plainText = (text: string) => (text.includes('\x1b') ? text.replace(escape, '') : text);
