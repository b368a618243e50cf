import { setBits } from '../tokens/bit-mask.ts';
import type { Grammar } from '../compile-grammar.ts';

/** Tokens that end something in most grammars; chosen where they are allowed once a text is long. */
const CLOSING = ['"', '}', ']', 'null', '0', '1', 'a', 'x', '@', '.'];

/**
 * A text of a grammar of random allowed tokens: any at first, those that end something after a number
 * of tokens. Throws if there is no allowed token, or no end.
 */
export function randomText(grammar: Grammar, random: () => number, tokenCount: number): string {
  const { vocabulary } = grammar;
  const matcher = grammar.start();
  const mask = new Uint32Array(vocabulary.maskLength);
  const bytes: number[] = [];
  const closing = CLOSING.map(
    (text) => vocabulary.longestToken(new TextEncoder().encode(text)).token,
  );
  for (let count = 0; count < 20 * tokenCount + 2000; count++) {
    matcher.mask(mask);
    const allowed = setBits(mask);
    let id = allowed[Math.floor(random() * allowed.length)];
    if (count >= tokenCount || random() < 0.3) {
      const ends = closing.filter((token) => token !== undefined && allowed.includes(token));
      const end = vocabulary.endTokens.find((token) => allowed.includes(token));
      id = end ?? ends[Math.floor(random() * ends.length)] ?? id;
    }
    if (id === undefined) throw new Error(`no token may follow ${JSON.stringify(decode(bytes))}`);
    if (!matcher.accept(id)) throw new Error(`token ${id} is in the mask and not accepted`);
    if (vocabulary.endTokens.includes(id)) return decode(bytes);
    bytes.push(...(vocabulary.bytesOf(id) ?? []));
  }
  throw new Error(`no end after ${JSON.stringify(decode(bytes).slice(-200))}`);
}

/** Throws for bytes that are no UTF-8. */
function decode(bytes: readonly number[]): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array(bytes));
}
