/** How positions turn the pairs of a head (RoPE: J. Su et al. 2021). Pair i is elements i and i + width / 2. */
export interface RotaryConfig {
  /** Elements of a head that are turned; those behind them stay. */
  readonly width: number;
  /** Pair i turns by theta^(-2 i / width) a position. */
  readonly theta: number;
  /** Multiplies positions: 1 / factor of linear scaling. */
  readonly scale: number;
  /** Multiplies what is turned: the attention factor of LongRoPE. */
  readonly magnitude: number;
  /** Divide the frequency of each pair: numbers, or the name of a tensor that holds them. */
  readonly factors?: readonly number[] | string | undefined;
}

/** Sizes and constants of a decoder: what its file says of it beside the weights. */
export interface DecoderConfig {
  /** Tokens of the vocabulary. */
  readonly vocabulary: number;
  /** Elements of the hidden state of a token. */
  readonly width: number;
  readonly layers: number;
  /** Heads of queries. */
  readonly heads: number;
  /** Heads of keys and values; several heads of queries in a row share one. */
  readonly keyHeads: number;
  /** Elements of a head. */
  readonly headWidth: number;
  /** Elements between the products of a feed-forward network. */
  readonly inner: number;
  /** Added to mean squares by RMSNorm. */
  readonly epsilon: number;
  /** Positions from 0 on that may be asked for. */
  readonly contextLength: number;
  readonly rotary: RotaryConfig;
  /** The rotary embedding of layers with a sliding window, where it differs. */
  readonly slidingRotary?: RotaryConfig | undefined;
  /** For each layer how many keys, its own included, a query sees; undefined for all. */
  readonly windows: readonly (number | undefined)[];
  /** Multiplies scores. */
  readonly attentionScale: number;
  /** Limits scores by a hyperbolic tangent; 0 for no limit. */
  readonly attentionSoftcap: number;
  /** Limits logits by a hyperbolic tangent; 0 for no limit. */
  readonly logitSoftcap: number;
  /** Multiplies embeddings. */
  readonly embeddingScale: number;
  /** Added to the weights of norms, as the file has them. */
  readonly normOffset: number;
  /**
   * True if rows of queries and keys have the two elements of a pair side by side, as llama's in
   * GGUF.
   */
  readonly hasAdjacentPairs: boolean;
  /** Uses the embedding as head, even where the file has a head. */
  readonly tiesEmbedding: boolean;
}

/** A decoder that scales and bends nothing on the way, as llama's. */
export const PLAIN = {
  attentionSoftcap: 0,
  logitSoftcap: 0,
  embeddingScale: 1,
  normOffset: 0,
  hasAdjacentPairs: false,
} as const satisfies Partial<DecoderConfig>;
