/** `Did you mean relu?` for a name that is nearly one of these; undefined when none is near. */
export function nearestName(
  name: string,
  candidates: readonly string[],
  sigil = '',
): string | undefined {
  const limit = Math.max(1, Math.floor(name.length / 3));
  let best: string | undefined;
  let least = limit + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const distance = editDistance(name, candidate);
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best === undefined ? undefined : `Did you mean ${sigil}${best}?`;
}

/** Insertions, deletions and replacements between two words (Wagner and Fischer). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
