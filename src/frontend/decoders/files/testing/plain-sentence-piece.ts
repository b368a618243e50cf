/** A vocabulary with scores, and whether a text has a blank put before it. */
interface PlainPieces {
  readonly tokens: readonly string[];
  readonly scores: ArrayLike<number>;
  readonly hasPrefix: boolean;
}

/**
 * SentencePiece as it is told: as long as two neighbours make a token, those that make the one with the highest score are joined,
 * the leftmost of several; what is no token then is spelt in bytes. Of texts without special tokens. Slow, and shares no code with
 * what it tests.
 */
export function plainPieces(text: string, { tokens, scores, hasPrefix }: PlainPieces): number[] {
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const parts = Array.from(`${hasPrefix ? ' ' : ''}${text}`.replaceAll(' ', '▁'));
  for (;;) {
    let best = -1;
    let most = Number.NEGATIVE_INFINITY;
    for (let i = 0; i + 1 < parts.length; i++) {
      const id = ids.get(`${parts[i]}${parts[i + 1]}`);
      if (id === undefined || (scores[id] ?? 0) <= most) continue;
      [best, most] = [i, scores[id] ?? 0];
    }
    if (best < 0) break;
    parts.splice(best, 2, `${parts[best]}${parts[best + 1]}`);
  }
  return parts.flatMap((part) => {
    const id = ids.get(part);
    if (id !== undefined) return [id];
    return Array.from(new TextEncoder().encode(part), (byte) => {
      return ids.get(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`) ?? -1;
    });
  });
}
