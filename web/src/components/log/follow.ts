// Whether a log is followed: at its end one sees each new line come; whoever scrolls up stays where he is, and is told how many
// came meanwhile.
export interface Follow {
  following: boolean;
  seen: number; // lines that were there, or in sight, since following ended
}

export const followFrom = (following: boolean): Follow => ({ following, seen: 0 });

/** A person moved the log by so many pixels; `last` is the number behind the last line in sight. */
export function moved(follow: Follow, pixels: number, atEnd: boolean, last: number, total: number): Follow {
  if (atEnd) return pixels < 0 && !follow.following ? { ...follow, seen: total } : { following: true, seen: total };
  if (follow.following) return pixels < 0 ? { following: false, seen: total } : follow;
  return last > follow.seen ? { ...follow, seen: last } : follow;
}

/** A person asked for a line, or to follow no longer. */
export const stopped = (follow: Follow, total: number): Follow => (follow.following ? { following: false, seen: total } : follow);

export const newLines = (follow: Follow, total: number) => (follow.following ? 0 : Math.max(0, total - follow.seen));
