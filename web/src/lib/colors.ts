// Colours of lines: fixed for a task or a tag, apart from each other for colour-blind eyes (Okabe and Ito's palette, lightened
// or darkened until it stands 3:1 against the background), and told apart a second way by dashes.
export interface LineLook {
  color: string;
  dash: number[]; // of a canvas; empty: solid
}

const light = ['#0072b2', '#c2410c', '#00785a', '#a8327d', '#8a6100', '#0f7fb5', '#5b4bb7', '#4d4d4d'];
const dark = ['#56b4e9', '#f28e2b', '#2ecc9a', '#e69ccb', '#e6c229', '#8ecaf0', '#b3a6ff', '#c8c8c8'];
const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3]];

/** The look of line number `slot`, from 0; colours repeat after eight, then with another dash. */
export function lineLook(slot: number, scheme: 'light' | 'dark'): LineLook {
  const colors = scheme === 'dark' ? dark : light;
  return { color: colors[slot % colors.length]!, dash: dashes[Math.floor(slot / colors.length) % dashes.length]! };
}

/** A slot that is always the same for a text, to begin with; whoever has several lines gives clashes the next free one. */
export function slotOf(text: string): number {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return (hash >>> 0) % light.length;
}
