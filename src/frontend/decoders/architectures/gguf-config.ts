import type { GgufMetadata } from '../files/gguf-metadata.ts';
import { type DecoderConfig, type RotaryConfig, PLAIN } from './decoder-config.ts';
import { type FactsOptions, ModelFacts } from './model-facts.ts';
import { contextOf } from './context-length.ts';
import { yarnFactors, yarnMagnitude } from './parts/rotary-scaling.ts';

/** Keys without an effect on what a model computes, or only beside others that are refused; llama.cpp ignores them where they are not read. */
const HARMLESS =
  /^(vocab_size|tensor_data_layout|pooling_type|expert_used_count|attention\.(layer_norm_epsilon|sliding_window)|rope\.scale_linear|rope\.scaling\.(finetuned|factor|original_context_length|yarn_beta_(fast|slow)))$/;

/** The metadata of a GGUF file about its architecture: keys stand behind its name, `llama.block_count`. */
export class GgufFacts extends ModelFacts {
  readonly #metadata: GgufMetadata;
  readonly #architecture: string;
  readonly #read = new Set<string>();

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
    this.#read.add(key);
    return this.#metadata.get(this.nameOf(key));
  }

  /** Refuses what the file says about its architecture and nobody has read. */
  refuseUnread(): void {
    const prefix = this.nameOf('');
    for (const name of this.#metadata.keys) {
      const key = name.slice(prefix.length);
      if (!name.startsWith(prefix) || this.#read.has(key) || HARMLESS.test(key)) continue;
      // 0 and false say that there is none.
      const value = this.#metadata.get(name);
      if (value !== 0 && value !== false) this.refuse(`${name}, which is not read`);
    }
  }
}

/**
 * The configuration that all architectures share, from the metadata of GGUF. Files have the size of a window also for
 * architectures that do not slide, and some have tensors of LongRoPE, which few architectures read.
 */
export function configOfGguf(facts: GgufFacts, { readsLongFactors = false } = {}): DecoderConfig {
  const width = facts.count('embedding_length');
  const heads = facts.count('attention.head_count');
  const layers = facts.layers('block_count');
  const headWidth = facts.count('attention.key_length', width / heads);
  const valueWidth = facts.count('attention.value_length', headWidth);
  if (valueWidth !== headWidth)
    facts.refuse(`values of ${valueWidth} elements, keys of ${headWidth}`);
  const experts = facts.optionalCount('expert_count');
  if (experts !== undefined) facts.refuse(`a mixture of ${experts} experts`);
  if (!facts.flag('attention.causal', true)) facts.refuse('attention that is not causal');
  const contextLength = contextOf(facts, facts.count('context_length'));
  return {
    vocabulary: facts.file.vocabulary,
    width,
    layers,
    heads,
    keyHeads: facts.count('attention.head_count_kv', heads),
    headWidth,
    inner: facts.count('feed_forward_length'),
    epsilon: facts.number('attention.layer_norm_rms_epsilon'),
    contextLength,
    rotary: rotaryOf(facts, { headWidth, contextLength, readsLongFactors }),
    windows: new Array<number | undefined>(layers).fill(undefined),
    attentionScale: 1 / Math.sqrt(headWidth),
    ...PLAIN,
    tiesEmbedding: false,
  };
}

/** Divisors of LongRoPE's frequencies in contexts up to the original one, and beyond it. */
const [SHORT_FACTORS, LONG_FACTORS] = ['rope_factors_short.weight', 'rope_factors_long.weight'];

interface RotaryOptions {
  readonly headWidth: number;
  readonly contextLength: number;
  readonly readsLongFactors: boolean;
}

function rotaryOf(
  facts: GgufFacts,
  { headWidth, contextLength, readsLongFactors }: RotaryOptions,
): RotaryConfig {
  const hasLongFactors = facts.file.tensors.has(LONG_FACTORS);
  // A factor without a type is linear, as llama.cpp has it; early files of Phi 3 have the tensors without one.
  const isLong = readsLongFactors && hasLongFactors;
  const type = facts.text('rope.scaling.type', isLong ? 'longrope' : 'linear');
  const base = {
    width: facts.count('rope.dimension_count', headWidth),
    theta: facts.number('rope.freq_base', 10_000),
    scale: 1,
    magnitude: facts.number('rope.scaling.attn_factor', 1),
  };
  switch (type) {
    case 'linear': {
      // Files of 2023 have the other key.
      const old = facts.number('rope.scale_linear', 1);
      return { ...base, scale: 1 / (facts.number('rope.scaling.factor', old) || 1) };
    }
    case 'yarn':
      return yarnRotary(facts, base);
    case 'longrope': {
      if (!isLong) {
        const lacking = readsLongFactors ? ` without ${LONG_FACTORS}` : '';
        facts.refuse(`positions scaled by ${type}${lacking}`);
        return base;
      }
      const original = facts.count('rope.scaling.original_context_length', contextLength);
      const factors = contextLength > original ? LONG_FACTORS : SHORT_FACTORS;
      return { ...base, factors };
    }
    case 'none':
      return base;
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
  return { ...base, factors, magnitude: base.magnitude * yarnMagnitude(factor) };
}
