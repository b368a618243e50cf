/** There may be more names than can be compared at once. */
const COMPARED_COUNT = 1000;

/** `Did you mean relu?` for a name that is nearly one of these; undefined when none is near. */
export function nearestName(
  name: string,
  candidates: readonly string[],
  sigil = '',
): string | undefined {
  const best = nearest(name, candidates);
  return best && `Did you mean ${sigil}${best}?`;
}

/** The name at the smallest edit distance, if it is near. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Infinity;
  for (const candidate of candidates.slice(0, COMPARED_COUNT)) {
    const length = Math.max(candidate.length, name.length);
    const limit = Math.min(least, Math.floor(length / 3) + 1);
    if (Math.abs(candidate.length - name.length) >= limit) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance >= limit) continue;
    least = distance;
    best = candidate;
  }
  // `minval` for `min`.
  return (
    best ??
    candidates.find(
      (candidate) =>
        Math.min(candidate.length, name.length) > 2 &&
        (name.startsWith(candidate) || candidate.startsWith(name)),
    )
  );
}

/** Insertions, deletions, replacements and swaps of neighbours (Damerau and Levenshtein). */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
