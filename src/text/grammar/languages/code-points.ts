/** Code points from the first to the last, both included. */
export type CodePointRange = readonly [first: number, last: number];

/** A set of code points: ranges in order that neither overlap nor touch. Surrogates are in none. */
export type CodePointSet = readonly CodePointRange[];

const LAST_CODE_POINT = 0x10ffff;
const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;

/** The set of code points that lie in any of the ranges. A range with its ends swapped is empty. */
export function codePointSet(ranges: readonly CodePointRange[]): CodePointSet {
  const parts = ranges.flatMap(withoutSurrogates).sort((a, b) => a[0] - b[0]);
  const set: [number, number][] = [];
  for (const [first, last] of parts) {
    const previous = set.at(-1);
    if (previous !== undefined && first <= previous[1] + 1) {
      previous[1] = Math.max(previous[1], last);
    } else {
      set.push([first, last]);
    }
  }
  return set;
}

function withoutSurrogates([first, last]: CodePointRange): CodePointRange[] {
  const below: CodePointRange = [first, Math.min(last, FIRST_SURROGATE - 1)];
  const above: CodePointRange = [Math.max(first, LAST_SURROGATE + 1), last];
  return [below, above].filter((part) => part[0] <= part[1]);
}

/** All code points that are not in a set. */
export function complement(set: CodePointSet): CodePointSet {
  const ranges: CodePointRange[] = [];
  let next = 0;
  for (const [first, last] of set) {
    ranges.push([next, first - 1]);
    next = last + 1;
  }
  return codePointSet([...ranges, [next, LAST_CODE_POINT]]);
}

export const union = (...sets: readonly CodePointSet[]): CodePointSet => codePointSet(sets.flat());

/** The code points that are in `a` and not in `b`. */
export const difference = (a: CodePointSet, b: CodePointSet): CodePointSet =>
  complement(union(complement(a), b));

export function contains(set: CodePointSet, codePoint: number): boolean {
  return set.some(([first, last]) => first <= codePoint && codePoint <= last);
}

export const charactersOf = (text: string): CodePointSet =>
  codePointSet(
    Array.from(text, (character) => {
      const codePoint = character.codePointAt(0) ?? 0;
      return [codePoint, codePoint];
    }),
  );

export const ALL: CodePointSet = complement([]);
