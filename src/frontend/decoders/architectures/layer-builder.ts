import { call } from '../../../compiler/ir/build.ts';
import type { Expr, VarExpr } from '../../../compiler/ir/expr.ts';
import type { DecoderConfig } from './decoder-config.ts';
import { appended, attention } from './parts/attention.ts';
import { type Angles, rotate } from './parts/rotary.ts';
import { add, mul, reshape } from './parts/tensor-calls.ts';
import { product } from './parts/weight.ts';
import type { DecoderWeights } from './decoder-weights.ts';

/** Inputs of all layers: the positions of tokens, and the angles that follow from them. */
interface DecoderContext {
  readonly config: DecoderConfig;
  readonly weights: DecoderWeights;
  /** The position of each row's first token, int32 (b). */
  readonly first: Expr;
  /** The angles of a layer's positions. */
  readonly angles: (layer: number) => Angles;
}

/** The keys and values of a layer, (b, keyHeads, c, headWidth). */
export interface Cache<Value extends Expr = Expr> {
  readonly key: Value;
  readonly value: Value;
}

/** Builds a layer of a decoder. Its weights go by the names of GGUF without `blk.N.` and `.weight`. */
export class LayerBuilder {
  readonly config: DecoderConfig;
  readonly #index: number;
  readonly #context: DecoderContext;
  readonly #past: Cache<VarExpr>;
  #present: Cache | undefined;

  constructor(index: number, context: DecoderContext, past: Cache<VarExpr>) {
    this.config = context.config;
    this.#index = index;
    this.#context = context;
    this.#past = past;
  }

  /** The cache with what the layer has appended. */
  get present(): Cache {
    if (this.#present === undefined) {
      throw new Error(`internal: layer ${this.#index} has no attention`);
    }
    return this.#present;
  }

  /** RMSNorm along the last axis (B. Zhang and R. Sennrich 2019). */
  norm(x: Expr, name: string): Expr {
    const normal = call('rms_norm', [x], { epsilon: this.config.epsilon });
    return mul(normal, this.#context.weights.vector(this.#name(`${name}.weight`)));
  }

  /** x (b, s, columns) times a matrix, and its bias where the file has one: (b, s, rows). */
  linear(x: Expr, name: string): Expr {
    const { weights } = this.#context;
    const y = product(x, weights.matrix(this.#name(`${name}.weight`)));
    const bias = weights.optionalVector(this.#name(`${name}.bias`));
    return bias === undefined ? y : add(y, bias);
  }

  /** (b, s, heads * headWidth) as (b, s, heads, headWidth). */
  split(x: Expr, heads: number): Expr {
    return reshape(x, ['b', 's', heads, this.config.headWidth]);
  }

  /** Heads (b, s, heads, headWidth) turned by their positions. */
  rotate(x: Expr, heads: number): Expr {
    const { headWidth, rotary } = this.config;
    return rotate(x, this.#context.angles(this.#index), { heads, headWidth, width: rotary.width });
  }

  /** Attention of queries to all keys that count, the new ones appended to the cache: (b, s, heads * headWidth). */
  attend({ query, key, value }: { query: Expr } & Cache): Expr {
    const { heads, headWidth, attentionScale, attentionSoftcap, windows } = this.config;
    const { first } = this.#context;
    this.#present = {
      key: appended(this.#past.key, key, first),
      value: appended(this.#past.value, value, first),
    };
    return attention({
      query,
      ...this.#present,
      first,
      window: windows[this.#index] ?? 0,
      scale: attentionScale,
      softcap: attentionSoftcap,
      width: heads * headWidth,
    });
  }

  #name(name: string): string {
    return `blk.${this.#index}.${name}`;
  }
}
