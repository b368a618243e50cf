import type { GgufMetadata } from '../files/gguf-metadata.ts';
import { type DecoderConfig, type RotaryConfig, PLAIN } from './decoder-config.ts';
import { type FactsOptions, ModelFacts } from './model-facts.ts';
import { contextOf } from './context-length.ts';
import { yarnFactors, yarnMagnitude } from './parts/rotary-scaling.ts';

/** The metadata of a GGUF file about its architecture: keys stand behind its name, `llama.block_count`. */
export class GgufFacts extends ModelFacts {
  readonly #metadata: GgufMetadata;
  readonly #architecture: string;

  constructor(
    metadata: GgufMetadata,
    { architecture, ...options }: FactsOptions & { readonly architecture: string },
  ) {
    super(options);
    this.#metadata = metadata;
    this.#architecture = architecture;
  }

  override nameOf(key: string): string {
    return `${this.#architecture}.${key}`;
  }

  override value(key: string): unknown {
    return this.#metadata.get(this.nameOf(key));
  }
}

/** The configuration that all architectures share, from the metadata of GGUF. */
export function configOfGguf(facts: GgufFacts): DecoderConfig {
  const width = facts.count('embedding_length');
  const heads = facts.count('attention.head_count');
  const layers = facts.layers('block_count');
  const headWidth = facts.count('attention.key_length', width / heads);
  const valueWidth = facts.count('attention.value_length', headWidth);
  if (valueWidth !== headWidth)
    facts.refuse(`values of ${valueWidth} elements, keys of ${headWidth}`);
  const experts = facts.optionalCount('expert_count');
  if (experts !== undefined) facts.refuse(`a mixture of ${experts} experts`);
  const window = facts.optionalCount('attention.sliding_window');
  return {
    vocabulary: facts.file.vocabulary,
    width,
    layers,
    heads,
    keyHeads: facts.count('attention.head_count_kv', heads),
    headWidth,
    inner: facts.count('feed_forward_length'),
    epsilon: facts.number('attention.layer_norm_rms_epsilon'),
    contextLength: contextOf(facts, facts.count('context_length')),
    rotary: rotaryOf(facts, headWidth),
    windows: new Array<number | undefined>(layers).fill(window),
    attentionScale: 1 / Math.sqrt(headWidth),
    ...PLAIN,
    tiesEmbedding: false,
  };
}

/** Divisors of LongRoPE's frequencies in contexts beyond the original one. */
export const LONG_FACTORS = 'rope_factors_long.weight';

function rotaryOf(facts: GgufFacts, headWidth: number): RotaryConfig {
  const type = facts.text('rope.scaling.type', 'none');
  const base = {
    width: facts.count('rope.dimension_count', headWidth),
    theta: facts.number('rope.freq_base', 10_000),
    scale: 1,
    magnitude: 1,
  };
  switch (type) {
    case 'linear':
      return { ...base, scale: 1 / facts.number('rope.scaling.factor') };
    case 'yarn':
      return yarnRotary(facts, base);
    case 'longrope':
      // Whoever has such tensors takes the factors from them.
      if (!facts.file.tensors.has(LONG_FACTORS))
        facts.refuse(`positions scaled by ${type} without ${LONG_FACTORS}`);
      return base;
    case 'none':
      // Files of 2023 say it by this key.
      return { ...base, scale: 1 / facts.number('rope.scale_linear', 1) };
    default:
      facts.refuse(`positions scaled by ${type}`);
      return base;
  }
}

function yarnRotary(facts: GgufFacts, base: RotaryConfig): RotaryConfig {
  const factor = facts.number('rope.scaling.factor');
  const factors = yarnFactors(base, {
    factor,
    originalContext: facts.count(
      'rope.scaling.original_context_length',
      facts.count('context_length'),
    ),
    fastTurns: facts.number('rope.scaling.yarn_beta_fast', 32),
    slowTurns: facts.number('rope.scaling.yarn_beta_slow', 1),
  });
  const magnitude = facts.number('rope.scaling.attn_factor', 1) * yarnMagnitude(factor);
  return { ...base, factors, magnitude };
}
