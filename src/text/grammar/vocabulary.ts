import { UsageError } from '../../core/errors.ts';

/** Settings of {@link Vocabulary}. */
export interface VocabularyOptions {
  /** Tokens that end a text, by id. They are allowed exactly where the text is complete. */
  readonly endTokens?: readonly number[] | undefined;
}

/**
 * The tokens of a model, made once for all grammars: a trie of their bytes, its nodes in depth-first
 * order. Node 0 is the root. The nodes below node n are those from n + 1 to `skip[n]`, not included.
 */
export class Vocabulary {
  readonly size: number;
  readonly endTokens: readonly number[];
  readonly nodeCount: number;
  /** The last byte of the prefix that a node stands for. */
  readonly byte: Uint8Array;
  /** The number of bytes of the prefix. */
  readonly depth: Uint16Array;
  readonly skip: Int32Array;
  /** A token with exactly these bytes, or -1. */
  readonly token: Int32Array;
  /** For each token the next one with the same bytes, or -1. */
  readonly sameBytes: Int32Array;
  readonly maxDepth: number;

  readonly #tokens: readonly (Uint8Array | undefined)[];

  /**
   * @param tokens By id, as many as the model has logits, the bytes of each token, which may cut a
   *   character. Tokens that are undefined (special ones) or empty are allowed nowhere in a text.
   *
   * Throws UsageError for an end token that is no id, and for a token of more than 65,535 bytes.
   */
  constructor(
    tokens: readonly (Uint8Array | undefined)[],
    { endTokens = [] }: VocabularyOptions = {},
  ) {
    this.#tokens = tokens;
    this.size = tokens.length;
    this.endTokens = endTokens;
    for (const id of endTokens) requireToken(id, this.size);
    const sorted = sortedTokens(tokens);
    this.maxDepth = sorted.reduce((most, { key }) => Math.max(most, key.length), 0);
    this.nodeCount = countNodes(sorted);
    this.byte = new Uint8Array(this.nodeCount);
    this.depth = new Uint16Array(this.nodeCount);
    this.skip = new Int32Array(this.nodeCount).fill(this.nodeCount);
    this.token = new Int32Array(this.nodeCount).fill(-1);
    this.sameBytes = new Int32Array(this.size).fill(-1);
    this.#fill(sorted);
  }

  /** Words of 32 bits that a mask of this vocabulary has. */
  get maskLength(): number {
    return Math.ceil(this.size / 32);
  }

  /** The bytes of a token, or undefined for one that has none. */
  bytesOf(id: number): Uint8Array | undefined {
    const bytes = this.#tokens[id];
    return bytes?.length === 0 ? undefined : bytes;
  }

  /** The longest token at the start of some bytes, if there is one. */
  longestToken(bytes: Uint8Array): LongestToken {
    let token: number | undefined;
    let length = 0;
    let node = 0;
    for (const [i, byte] of bytes.entries()) {
      const end = this.skip[node] ?? 0;
      let child = node + 1;
      while (child < end && this.byte[child] !== byte) child = this.skip[child] ?? end;
      if (child >= end) return { token, length, goesOn: false };
      node = child;
      const id = this.token[node] ?? -1;
      if (id < 0) continue;
      token = id;
      length = i + 1;
    }
    return { token, length, goesOn: (this.skip[node] ?? 0) > node + 1 };
  }

  #fill(sorted: readonly SortedToken[]): void {
    const path = new Int32Array(this.maxDepth + 1);
    let count = 1;
    let previous = '';
    let previousId = -1;
    for (const { key, id } of sorted) {
      const shared = sharedLength(previous, key);
      if (shared === key.length) {
        this.sameBytes[previousId] = id;
      } else {
        for (let depth = shared + 1; depth <= previous.length; depth++) {
          this.skip[path[depth] ?? 0] = count;
        }
        for (let depth = shared + 1; depth <= key.length; depth++) {
          path[depth] = count;
          this.byte[count] = key.charCodeAt(depth - 1);
          this.depth[count] = depth;
          count++;
        }
        this.token[count - 1] = id;
      }
      previous = key;
      previousId = id;
    }
  }
}

export interface LongestToken {
  readonly token: number | undefined;
  /** How many bytes the token has. */
  readonly length: number;
  /** Some token begins with all of the bytes and goes on. */
  readonly goesOn: boolean;
}

interface SortedToken {
  /** The bytes, a character each. */
  readonly key: string;
  readonly id: number;
}

function sortedTokens(tokens: readonly (Uint8Array | undefined)[]): SortedToken[] {
  const keys: SortedToken[] = [];
  for (const [id, bytes] of tokens.entries()) {
    if (bytes === undefined || bytes.length === 0) continue;
    if (bytes.length > 0xffff) {
      throw new UsageError({
        where: `token ${id}`,
        got: `${bytes.length} bytes`,
        expected: 'at most 65535',
      });
    }
    keys.push({ key: String.fromCharCode(...bytes), id });
  }
  return keys.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.id - b.id));
}

function countNodes(sorted: readonly SortedToken[]): number {
  let count = 1;
  let previous = '';
  for (const { key } of sorted) {
    count += key.length - sharedLength(previous, key);
    previous = key;
  }
  return count;
}

function sharedLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a.charCodeAt(length) === b.charCodeAt(length)) {
    length++;
  }
  return length;
}

function requireToken(id: number, size: number): void {
  if (Number.isInteger(id) && id >= 0 && id < size) return;
  throw new UsageError({
    where: 'endTokens',
    got: `${id}`,
    expected: `ids from 0 to ${size - 1}`,
  });
}
