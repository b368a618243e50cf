import type { VocabularyData } from '../../../frontend/decoders/reader/vocabulary-data.ts';

/** The tokens of a model, made once for all grammars. Its fields are those of {@link VocabularyData}. */
export class Vocabulary {
  readonly size: number;
  readonly endTokens: readonly number[];
  readonly nodeCount: number;
  readonly byte: Uint8Array;
  readonly depth: Uint16Array;
  readonly skip: Int32Array;
  readonly token: Int32Array;
  readonly sameBytes: Int32Array;
  readonly maxDepth: number;
  readonly #bytes: Uint8Array;
  readonly #begins: Int32Array;

  constructor(data: VocabularyData) {
    this.size = data.size;
    this.endTokens = data.endTokens;
    this.nodeCount = data.nodeCount;
    this.byte = data.byte;
    this.depth = data.depth;
    this.skip = data.skip;
    this.token = data.token;
    this.sameBytes = data.sameBytes;
    this.maxDepth = data.maxDepth;
    this.#bytes = data.bytes;
    this.#begins = data.begins;
  }

  /** Words of 32 bits that a mask of this vocabulary has. */
  get maskLength(): number {
    return Math.ceil(this.size / 32);
  }

  /** The bytes of a token, or undefined for one that has none. */
  bytesOf(id: number): Uint8Array | undefined {
    const [begin = 0, end = 0] = this.#begins.subarray(id, id + 2);
    return begin < end ? this.#bytes.subarray(begin, end) : undefined;
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
}

interface LongestToken {
  readonly token: number | undefined;
  /** How many bytes the token has. */
  readonly length: number;
  /** Some token begins with all of the bytes and goes on. */
  readonly goesOn: boolean;
}
