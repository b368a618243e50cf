/** `Did you mean relu?` for a name that is nearly one of these; undefined when none is near. */
export function nearestName(
  name: string,
  candidates: readonly string[],
  sigil = '',
): string | undefined {
  let best: string | undefined;
  let least = Infinity;
  for (const candidate of candidates) {
    const length = Math.max(candidate.length, name.length);
    const limit = Math.min(least, Math.floor(length / 3) + 1);
    if (Math.abs(candidate.length - name.length) >= limit) continue;
    const distance = editDistance(name, candidate);
    if (distance >= limit) continue;
    least = distance;
    best = candidate;
  }
  return best === undefined ? undefined : `Did you mean ${sigil}${best}?`;
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
