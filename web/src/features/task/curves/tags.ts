// Which metrics share a chart, in which order charts stand, and which line has which colour.
import { slotOf } from '@/lib/colors';

export interface Group {
  /** What is measured, as "loss" of train/loss and val/loss. */
  title: string;
  tags: string[];
}

// Parts of a data set that a metric may be of.
const parts = 'training|train|validation|valid|val|evaluation|eval|testing|test|dev';
const before = new RegExp(`^(${parts})[/_.: -](.+)$`, 'i');
const behind = new RegExp(`^(.+)[/_.: -](${parts})$`, 'i');

/** What a tag measures, and of which part; no part for most. */
export function splitTag(tag: string): { measure: string; part: string } {
  const first = before.exec(tag);
  if (first) return { measure: first[2]!, part: first[1]! };
  const last = behind.exec(tag);
  if (last) return { measure: last[1]!, part: last[2]! };
  return { measure: tag, part: '' };
}

/** Tags that measure the same on other parts of the data stand together; everything else stands alone, under its whole name. */
export function groupTags(tags: readonly string[]): Group[] {
  const byMeasure = new Map<string, string[]>();
  for (const tag of tags) {
    const { measure } = splitTag(tag);
    const there = byMeasure.get(measure);
    if (there) there.push(tag);
    else byMeasure.set(measure, [tag]);
  }
  const groups = [...byMeasure].map(([measure, members]) => ({ title: members.length > 1 ? measure : members[0]!, tags: members.sort(byPart) }));
  return groups.sort((a, b) => rank(a.title) - rank(b.title) || compare(a.title, b.title));
}

/** Train before validation before test, so that legends read alike everywhere. */
function byPart(a: string, b: string): number {
  const order = (tag: string) => ['', 'train', 'val', 'eval', 'dev', 'test'].findIndex((part, at) => (at === 0 ? splitTag(tag).part === '' : splitTag(tag).part.toLowerCase().startsWith(part)));
  return order(a) - order(b) || compare(a, b);
}

// layer.2 before layer.10; the same in every language.
const collator = new Intl.Collator('en', { numeric: true });
const compare = (a: string, b: string) => collator.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);

/** Losses first, then how good it is, then the rest; learning rates and the like last. */
function rank(title: string): number {
  const name = title.toLowerCase();
  if (/(^|[^a-z])loss$/.test(name) || name === 'loss') return 0;
  if (/loss|perplexity|(^|[^a-z])(ppl|nll|elbo|error|rmse|mae|mse)/.test(name)) return 1;
  if (/acc|f1|auc|map|iou|bleu|rouge|psnr|reward|score|top\d|precision|recall/.test(name)) return 2;
  if (/(^|[^a-z])(lr|learning_rate|epoch|step|time|seconds|samples|throughput|speed|memory|mem)/.test(name)) return 4;
  return 3;
}

/** The name of a tag within its chart: its part of the data, where all have one. */
export function labelOf(tag: string, group: Group): string {
  if (group.tags.length === 1) return tag;
  const { part } = splitTag(tag);
  if (part === '') return tag;
  // Two tags of one part (val/loss and val_loss) need their whole names.
  return group.tags.filter((other) => splitTag(other).part === part).length > 1 ? tag : part;
}

/** Groups that a search finds: every word stands somewhere in a tag. */
export function findGroups(groups: readonly Group[], typed: string): Group[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...groups];
  return groups.filter((group) => group.tags.some((tag) => words.every((word) => tag.toLowerCase().includes(word))));
}

const lineCount = 32; // eight colours, each solid and with three kinds of dashes

/**
 * Slots of colours: a tag begins with the one its name gives and takes the next free one of its chart when that is taken.
 * What was given once is kept in `given`, so that a metric which appears later changes nobody's colour.
 */
export function giveSlots(group: Group, given: Map<string, number>): void {
  const taken = new Set(group.tags.flatMap((tag) => given.get(tag) ?? []));
  for (const tag of group.tags) {
    if (given.has(tag)) continue;
    let slot = slotOf(tag);
    while (taken.has(slot) && taken.size < lineCount) slot = (slot + 1) % lineCount;
    taken.add(slot);
    given.set(tag, slot);
  }
}
