import { bytePairModel } from '../../../src/frontend/decoders/files/tokenizer/gguf-tokenizer.ts';

/** Text between stories: a story begins after it and ends with it. */
export const END_OF_TEXT = '<|endoftext|>';
/** Its token. */
export const END = 0;

/** How GPT-2 cuts text before pairs are merged (Radford et al. 2019); `ByteLevel` of Hugging Face. */
const PIECES = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

/** The letter that stands for each byte in `tokenizer.json`: visible ones for themselves. */
const LETTERS: readonly string[] = byteLetters();

/** The letter of a space. */
const SPACE = LETTERS[0x20] ?? '';

function byteLetters(): string[] {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const isVisible =
      (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
    return String.fromCharCode(isVisible ? byte : next++);
  });
}

const lettersOf = (piece: string): string[] =>
  Array.from(new TextEncoder().encode(piece), (byte) => LETTERS[byte] ?? '');

/** A byte-level tokenizer: tokens, and pairs of them in the order in which they are merged. */
export class BytePairs {
  readonly tokens: readonly string[];
  readonly merges: readonly (readonly [string, string])[];
  readonly #ids: ReadonlyMap<string, number>;
  readonly #ranks: ReadonlyMap<string, number>;
  readonly #known = new Map<string, readonly number[]>();

  constructor(merges: readonly (readonly [string, string])[]) {
    this.merges = merges;
    const letters = [...LETTERS].sort();
    this.tokens = [END_OF_TEXT, ...letters, ...merges.map((pair) => pair.join(''))];
    this.#ids = new Map(this.tokens.map((token, id) => [token, id]));
    this.#ranks = new Map(merges.map((pair, rank) => [pair.join(' '), rank]));
  }

  /** Token ids of a text without special tokens. */
  encode(text: string): number[] {
    return (text.match(PIECES) ?? []).flatMap((piece) => [...this.#encodePiece(piece)]);
  }

  #encodePiece(piece: string): readonly number[] {
    const known = this.#known.get(piece);
    if (known !== undefined) return known;
    let parts = lettersOf(piece);
    for (;;) {
      const best = this.#firstMerge(parts);
      if (best === undefined) break;
      parts = merged(parts, best);
    }
    const ids = parts.map((part) => this.#ids.get(part) ?? END);
    this.#known.set(piece, ids);
    return ids;
  }

  #firstMerge(parts: readonly string[]): readonly [string, string] | undefined {
    let best = Infinity;
    for (let i = 1; i < parts.length; i++) {
      best = Math.min(best, this.#ranks.get(`${parts[i - 1]} ${parts[i]}`) ?? Infinity);
    }
    return this.merges[best];
  }

  /** Pairs of tokens that spell the same without and with a space before it. */
  spellings(): (readonly [bare: number, spaced: number])[] {
    return this.tokens.flatMap((token, bare) => {
      const spaced = this.#ids.get(`${SPACE}${token}`);
      return spaced === undefined ? [] : [[bare, spaced] as const];
    });
  }

  /** The text of tokens; special tokens leave nothing. */
  decode(ids: readonly number[]): string {
    const letters = ids.map((id) => (id === END ? '' : (this.tokens[id] ?? ''))).join('');
    const bytes = Uint8Array.from(letters, (letter) => LETTERS.indexOf(letter));
    return new TextDecoder().decode(bytes);
  }

  /** `tokenizer.json` as Hugging Face has it. */
  toJson(): string {
    const byteLevel = {
      type: 'ByteLevel',
      add_prefix_space: false,
      trim_offsets: true,
      use_regex: true,
    };
    const special = { id: END, content: END_OF_TEXT, special: true };
    const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false };
    const json = {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: [{ ...special, ...flags }],
      normalizer: null,
      pre_tokenizer: byteLevel,
      post_processor: null,
      decoder: byteLevel,
      model: bytePairModel(this.tokens, this.merges),
    };
    return `${JSON.stringify(json, null, 1)}\n`;
  }

  /** The tokenizer that {@link toJson} wrote. */
  static fromJson(text: string): BytePairs {
    const { model } = JSON.parse(text) as { model: { merges: [string, string][] } };
    return new BytePairs(model.merges);
  }
}

function merged(parts: readonly string[], [left, right]: readonly [string, string]): string[] {
  const result: string[] = [];
  for (const part of parts) {
    if (part === right && result.at(-1) === left) result[result.length - 1] = left + right;
    else result.push(part);
  }
  return result;
}

/**
 * Learns the merges of `size` tokens from texts: again and again the pair that occurs most often, of
 * equal ones the first in order of code units (Sennrich et al. 2016). Stops early where no pair occurs twice.
 */
export function trainBytePairs(texts: Iterable<string>, size: number): BytePairs {
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const piece of text.match(PIECES) ?? []) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  }
  let words = [...counts].map(([piece, count]) => ({ parts: lettersOf(piece), count }));
  const merges: (readonly [string, string])[] = [];
  while (merges.length < size - LETTERS.length - 1) {
    const best = commonestPair(words);
    if (best === undefined) break;
    merges.push(best);
    words = words.map(({ parts, count }) => ({ parts: merged(parts, best), count }));
  }
  return new BytePairs(merges);
}

function commonestPair(
  words: readonly { readonly parts: readonly string[]; readonly count: number }[],
): readonly [string, string] | undefined {
  const counts = new Map<string, number>();
  for (const { parts, count } of words) {
    for (let i = 1; i < parts.length; i++) {
      const pair = `${parts[i - 1]} ${parts[i]}`;
      counts.set(pair, (counts.get(pair) ?? 0) + count);
    }
  }
  let best: [string, number] | undefined;
  for (const [pair, count] of counts) {
    if (best === undefined || count > best[1] || (count === best[1] && pair < best[0]))
      best = [pair, count];
  }
  if (best === undefined || best[1] < 2) return undefined;
  const [left = '', right = ''] = best[0].split(' ');
  return [left, right];
}
