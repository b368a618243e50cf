import { UsageError } from '../../../core/errors.ts';

/** Settings of {@link vocabularyData}. */
interface VocabularyOptions {
  /** Tokens that end a text, by id. They are allowed exactly where the text is complete. */
  readonly endTokens?: readonly number[] | undefined;
}

/**
 * The tokens of a model: a trie of their bytes, its nodes in depth-first order. Node 0 is the root. The nodes below node n are
 * those from n + 1 to `skip[n]`, not included. Plain data, which crosses threads.
 */
export interface VocabularyData {
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
  /** The bytes of all tokens one behind the other, those of token i from `begins[i]` to `begins[i + 1]`. */
  readonly bytes: Uint8Array;
  readonly begins: Int32Array;
}

/**
 * @param tokens By id, as many as the model has logits, the bytes of each token, which may cut a
 *   character. Tokens that are undefined (special ones) or empty are allowed nowhere in a text.
 *
 * Throws UsageError for an end token that is no id, and for a token of more than 65,535 bytes.
 */
export function vocabularyData(
  tokens: readonly (Uint8Array | undefined)[],
  { endTokens = [] }: VocabularyOptions = {},
): VocabularyData {
  const size = tokens.length;
  for (const id of endTokens) requireToken(id, size);
  const sorted = sortedTokens(tokens);
  const nodeCount = countNodes(sorted);
  const begins = new Int32Array(size + 1);
  for (const [id, bytes] of tokens.entries()) {
    begins[id + 1] = (begins[id] ?? 0) + (bytes?.length ?? 0);
  }
  const bytes = new Uint8Array(begins[size] ?? 0);
  for (const [id, own] of tokens.entries()) if (own) bytes.set(own, begins[id]);
  const data = {
    size,
    endTokens,
    nodeCount,
    byte: new Uint8Array(nodeCount),
    depth: new Uint16Array(nodeCount),
    skip: new Int32Array(nodeCount).fill(nodeCount),
    token: new Int32Array(nodeCount).fill(-1),
    sameBytes: new Int32Array(size).fill(-1),
    maxDepth: sorted.reduce((most, { key }) => Math.max(most, key.length), 0),
    bytes,
    begins,
  };
  fill(data, sorted);
  return data;
}

function fill(data: VocabularyData, sorted: readonly SortedToken[]): void {
  const path = new Int32Array(data.maxDepth + 1);
  let count = 1;
  let previous = '';
  let previousId = -1;
  for (const { key, id } of sorted) {
    const shared = sharedLength(previous, key);
    if (shared === key.length) {
      data.sameBytes[previousId] = id;
    } else {
      for (let depth = shared + 1; depth <= previous.length; depth++) {
        data.skip[path[depth] ?? 0] = count;
      }
      for (let depth = shared + 1; depth <= key.length; depth++) {
        path[depth] = count;
        data.byte[count] = key.charCodeAt(depth - 1);
        data.depth[count] = depth;
        count++;
      }
      data.token[count - 1] = id;
    }
    previous = key;
    previousId = id;
  }
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
