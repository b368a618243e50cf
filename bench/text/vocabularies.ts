import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { randomTokens } from '../../src/text/grammar/testing/random-tokens.ts';

const RANKS = fileURLToPath(
  new URL('node_modules/js-tiktoken/dist/ranks/o200k_base.js', import.meta.url),
);

/** The bytes of tokens by id, and where they come from. */
interface BenchTokens {
  readonly source: string;
  readonly tokens: readonly Uint8Array[];
}

/**
 * So many tokens: the most frequent of o200k_base if its package is installed in this folder, random
 * ones otherwise. Merges are made in order, so these are what training would have given for that size.
 */
export function benchTokens(count: number): BenchTokens {
  if (!existsSync(RANKS)) return { source: 'random', tokens: randomTokens(count, 1) };
  const ranks = /"bpe_ranks":"([^"]*)"/.exec(readFileSync(RANKS, 'utf8'))?.[1] ?? '';
  // A line is a mark, the first id and the tokens from there on.
  const base64 = ranks.split('\\n').flatMap((line) => line.split(' ').slice(2));
  return {
    source: 'o200k_base',
    tokens: base64.slice(0, count).map((token) => new Uint8Array(Buffer.from(token, 'base64'))),
  };
}
