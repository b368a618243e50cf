import type { DecoderConfig } from './decoder-config.ts';

/** A weight that a decoder has. */
export interface TensorSpec {
  readonly name: string;
  /** (rows, columns) of a matrix, or the length of a vector. */
  readonly shape: readonly [number] | readonly [number, number];
  /** Present if a file may lack it. */
  readonly isOptional?: true;
  /** Present if it is the weight of a norm. */
  readonly isNorm?: true;
  /** Heads whose pairs lie side by side in some files. */
  readonly pairedHeads?: number;
}

const norm = (name: string, size: number): TensorSpec => ({
  name: `${name}.weight`,
  shape: [size],
  isNorm: true,
});

/** Norms over the hidden state. */
export const widthNorms = ({ width }: DecoderConfig, ...names: readonly string[]): TensorSpec[] =>
  names.map((name) => norm(name, width));

/** Norms over each head of queries and of keys. */
export const headNorms = ({ headWidth }: DecoderConfig): TensorSpec[] =>
  ['attn_q_norm', 'attn_k_norm'].map((name) => norm(name, headWidth));

/** A product, whose vector to add may be missing, required or not there at all. */
export function linear(
  name: string,
  [rows, columns]: readonly [number, number],
  bias: 'none' | 'optional' | 'required' = 'none',
): TensorSpec[] {
  const weight: TensorSpec = { name: `${name}.weight`, shape: [rows, columns] };
  if (bias === 'none') return [weight];
  const vector: TensorSpec = { name: `${name}.bias`, shape: [rows] };
  return [weight, bias === 'required' ? vector : { ...vector, isOptional: true }];
}

/** Products of attention: queries, keys, values, and the one behind it. */
export function attentionTensors(
  config: DecoderConfig,
  bias: 'none' | 'optional' | 'required' = 'none',
): TensorSpec[] {
  const { width, heads, keyHeads, headWidth } = config;
  const queries = linear('attn_q', [heads * headWidth, width], bias);
  const keys = linear('attn_k', [keyHeads * headWidth, width], bias);
  return [
    ...queries.map((spec) => ({ ...spec, pairedHeads: heads })),
    ...keys.map((spec) => ({ ...spec, pairedHeads: keyHeads })),
    ...linear('attn_v', [keyHeads * headWidth, width], bias),
    ...linear('attn_output', [width, heads * headWidth], bias === 'optional' ? 'optional' : 'none'),
  ];
}

/** Products of a gated feed-forward network. */
export function gatedTensors(
  { width, inner }: DecoderConfig,
  bias: 'none' | 'optional' = 'none',
): TensorSpec[] {
  return [
    ...linear('ffn_gate', [inner, width], bias),
    ...linear('ffn_up', [inner, width], bias),
    ...linear('ffn_down', [width, inner], bias),
  ];
}

/** The tensors of all decoders outside of their layers. */
export function sharedTensors({ vocabulary, width, rotary }: DecoderConfig): TensorSpec[] {
  const { factors } = rotary;
  const pairs: TensorSpec[] =
    typeof factors === 'string' ? [{ name: factors, shape: [rotary.width / 2] }] : [];
  return [
    { name: EMBEDDING, shape: [vocabulary, width] },
    norm('output_norm', width),
    { name: HEAD, shape: [vocabulary, width], isOptional: true },
    ...pairs,
  ];
}

export const EMBEDDING = 'token_embd.weight';

/** The matrix that gives logits, where it is not the embedding. */
export const HEAD = 'output.weight';
