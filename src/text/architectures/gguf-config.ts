import type { GgufMetadata } from '../files/gguf-metadata.ts';
import { type DecoderConfig, type RotaryConfig, PLAIN } from './decoder-config.ts';
import { type FactsOptions, ModelFacts } from './model-facts.ts';
import { contextOf } from './context-length.ts';

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

/** What all architectures have in common, as GGUF says it. */
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

function rotaryOf(facts: GgufFacts, headWidth: number): RotaryConfig {
  const type = facts.text('rope.scaling.type', 'none');
  const isLinear = type === 'linear';
  if (!isLinear && type !== 'none') facts.refuse(`positions scaled by ${type}`);
  // Files of 2023 say it by the second key.
  const factor = isLinear
    ? facts.number('rope.scaling.factor')
    : facts.number('rope.scale_linear', 1);
  return {
    width: facts.count('rope.dimension_count', headWidth),
    theta: facts.number('rope.freq_base', 10_000),
    scale: 1 / factor,
    magnitude: 1,
  };
}
