/** How many characters have to be put in, left out or changed to make one text of the other (Levenshtein 1966). */
export function editDistance(from: string, to: string): number {
  const [a, b] = [Array.from(from), Array.from(to)];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, character] of a.entries()) {
    const next = [i + 1];
    for (const [j, other] of b.entries()) {
      const changed = (row[j] ?? 0) + (character === other ? 0 : 1);
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
