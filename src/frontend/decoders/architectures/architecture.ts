import type { Expr } from '../../../compiler/ir/expr.ts';
import type { DecoderConfig } from './decoder-config.ts';
import type { GgufFacts } from './gguf-config.ts';
import type { LayerBuilder } from './layer-builder.ts';
import type { TensorSpec } from './tensor-spec.ts';
import type { TransformersFacts } from './transformers-config.ts';

/** A kind of decoder: what its files say of it, which weights a layer has, and what a layer computes. */
export interface Architecture {
  /** Its name in GGUF, `general.architecture`. */
  readonly name: string;
  /** Its names in `config.json`, `model_type`. */
  readonly modelTypes: readonly string[];
  /** Its sizes, from the metadata of a GGUF file. */
  readonly fromGguf: (facts: GgufFacts) => DecoderConfig;
  /** Its sizes, from a `config.json`. */
  readonly fromTransformers: (facts: TransformersFacts) => DecoderConfig;
  /** Weights of a layer, by their names in GGUF without `blk.N.`. */
  readonly layerTensors: (config: DecoderConfig) => readonly TensorSpec[];
  /** Names of a layer's parts in transformers by those of GGUF, where they are not llama's. */
  readonly transformersNames?: Readonly<Record<string, string>>;
  /** The hidden state (b, s, width) after a layer. */
  readonly layer: (layer: LayerBuilder, x: Expr) => Expr;
}
