import { FormatError } from '../../../../core/errors.ts';
import type { GgufVocabulary } from './gguf-vocabulary.ts';

/** Letters of parts that are looked up, and of pairs that are found: real vocabularies have some twenty million. */
const MAX_LETTER_COUNT = 2 ** 28;
/** A pair is kept, and becomes a key. */
const PAIR_WEIGHT = 8;

/** Pairs of a byte-pair encoding, those that are joined first at the front. */
interface ScoredMerges {
  readonly merges: readonly (readonly [string, string])[];
  /**
   * How many pairs of `merges` have each rank, from the first rank on. Of pairs of one rank the leftmost in a text is joined
   * first, whichever it is.
   */
  readonly rankSizes: readonly number[];
}

/**
 * SentencePiece joins the two neighbours that make the token with the highest score, of several the leftmost
 * (Kudo and Richardson 2018; `llm_tokenizer_spm` of llama.cpp). As pairs with ranks: each way to make a token of two parts that can
 * occur, which are tokens or single characters; all that make tokens of one score share a rank.
 *
 * Throws FormatError for long tokens that are made of others in very many ways.
 */
export function scoredMerges({ tokens, scores }: GgufVocabulary): ScoredMerges {
  const known = new Set(tokens);
  const canOccur = (part: string): boolean =>
    part.length === 1 || known.has(part) || (part.length === 2 && isPair(part, 0));
  // A part of another length is cut out of no token, however long that is.
  const lengths = new Set([1, 2, ...tokens.map(({ length }) => length)]);
  const order = tokens.map((_, id) => id).toSorted((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
  const merges: [string, string][] = [];
  const rankSizes: number[] = [];
  let last: number | undefined;
  let letterCount = 0;
  for (const id of order) {
    const token = tokens[id] ?? '';
    const score = scores[id] ?? 0;
    const before = merges.length;
    for (let at = 1; at < token.length; at++) {
      if (!lengths.has(at) || !lengths.has(token.length - at)) continue;
      // Not within a character of two UTF-16 units.
      if (isPair(token, at - 1)) continue;
      const [left, right] = [token.slice(0, at), token.slice(at)];
      const isPairOfTokens = canOccur(left) && canOccur(right);
      if (isPairOfTokens) merges.push([left, right]);
      letterCount += token.length * (isPairOfTokens ? PAIR_WEIGHT : 1);
      if (letterCount > MAX_LETTER_COUNT) throw tooManyWays(token.length);
    }
    const added = merges.length - before;
    if (added === 0) continue;
    if (score !== last) rankSizes.push(0);
    last = score;
    rankSizes[rankSizes.length - 1] = (rankSizes.at(-1) ?? 0) + added;
  }
  return { merges, rankSizes };
}

function tooManyWays(length: number): FormatError {
  return new FormatError({
    where: 'tokenizer.ggml.tokens',
    got: `tokens of up to ${length} letters that are made of others in very many ways`,
    expected: `ways of at most ${MAX_LETTER_COUNT} letters together`,
    remedy: 'Convert the model again with a current llama.cpp.',
  });
}

/** Returns true if a character of two UTF-16 units begins at `at`. */
const isPair = (text: string, at: number): boolean => (text.codePointAt(at) ?? 0) > 0xffff;
