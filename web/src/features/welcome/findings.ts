import type { Schemas } from '@/lib/api';

export type Finding = Schemas['Finding'];

/** What was found, apart by how much it matters, each in the yard's own order. */
export function byLevel(findings: readonly Finding[]) {
  const of = (level: Finding['level']) => findings.filter((finding) => finding.level === level);
  return { bad: of('bad'), note: of('note'), good: of('good') };
}
