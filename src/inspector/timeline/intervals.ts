/** A stretch of time. */
export interface Interval {
  readonly beginMs: number;
  readonly endMs: number;
}

/** Milliseconds in which at least one of them is under way. */
export function unionMs(intervals: readonly Interval[]): number {
  return merged(intervals).reduce((sum, { beginMs, endMs }) => sum + endMs - beginMs, 0);
}

/** Milliseconds in which one of `intervals` is under way and none of `others`. */
export function unionWithoutMs(
  intervals: readonly Interval[],
  others: readonly Interval[],
): number {
  return unionMs([...intervals, ...others]) - unionMs(others);
}

/** The same time as intervals that do not touch. */
function merged(intervals: readonly Interval[]): readonly Interval[] {
  const all: { beginMs: number; endMs: number }[] = [];
  for (const { beginMs, endMs } of intervals.toSorted((a, b) => a.beginMs - b.beginMs)) {
    const last = all.at(-1);
    if (last !== undefined && beginMs <= last.endMs) last.endMs = Math.max(last.endMs, endMs);
    else all.push({ beginMs, endMs });
  }
  return all;
}
