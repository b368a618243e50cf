import { isRecord, type JsonRecord } from '../files/json-record.ts';
import { contextOf } from './context-length.ts';
import { type DecoderConfig, type RotaryConfig, PLAIN } from './decoder-config.ts';
import { type FactsOptions, ModelFacts } from './model-facts.ts';
import { llama3Factors, yarnFactors, yarnMagnitude } from './parts/rotary-scaling.ts';

/** A `config.json` of transformers. */
export class TransformersFacts extends ModelFacts {
  readonly #config: JsonRecord;

  constructor(config: JsonRecord, options: FactsOptions) {
    super(options);
    this.#config = config;
  }

  override value(key: string): unknown {
    return this.#config[key];
  }

  /** These facts, and others where the file leaves them out, as transformers' classes do. */
  withDefaults(defaults: JsonRecord): TransformersFacts {
    return new TransformersFacts({ ...defaults, ...this.#config }, this.file);
  }

  /** How positions are scaled, in transformers 4 and 5. */
  get ropeScaling(): TransformersFacts {
    const given = this.#config['rope_parameters'] ?? this.#config['rope_scaling'];
    const scaling = isRecord(given) ? given : {};
    const full = scaling['full_attention'];
    const where = `${this.file.where}, rope_scaling`;
    return new TransformersFacts(isRecord(full) ? full : scaling, { ...this.file, where });
  }
}

export interface TransformersOptions {
  /** The name of the activation that the architecture has. */
  readonly activation: string;
  /** The key of its name. Default: `hidden_act`. */
  readonly activationKey?: string;
  /** Computes its rotary by itself. */
  readonly rotary?: RotaryConfig;
}

/** The configuration that all architectures share, from a `config.json` of transformers. */
export function configOfTransformers(
  facts: TransformersFacts,
  { activation, activationKey = 'hidden_act', rotary }: TransformersOptions,
): DecoderConfig {
  const width = facts.count('hidden_size');
  const heads = facts.count('num_attention_heads');
  const layers = facts.layers('num_hidden_layers');
  const headWidth = facts.count('head_dim', width / heads);
  const bend = facts.text(activationKey, activation);
  if (bend !== activation) facts.refuse(`activation ${bend}`);
  const window = facts.optionalCount('sliding_window');
  return {
    vocabulary: facts.file.vocabulary,
    width,
    layers,
    heads,
    keyHeads: facts.count('num_key_value_heads', heads),
    headWidth,
    inner: facts.count('intermediate_size'),
    epsilon: facts.number('rms_norm_eps'),
    contextLength: contextOf(facts, facts.count('max_position_embeddings')),
    rotary: rotary ?? rotaryOf(facts, headWidth),
    windows: new Array<number | undefined>(layers).fill(window),
    attentionScale: 1 / Math.sqrt(headWidth),
    ...PLAIN,
    tiesEmbedding: facts.flag('tie_word_embeddings', false),
  };
}

/** Elements of a head that are turned, and by which base. */
export function rotaryBase(facts: TransformersFacts, headWidth: number): RotaryConfig {
  const scaling = facts.ropeScaling;
  const part = facts.number('partial_rotary_factor', scaling.number('partial_rotary_factor', 1));
  return {
    width: Math.floor(headWidth * part),
    theta: scaling.number('rope_theta', facts.number('rope_theta', 10_000)),
    scale: 1,
    magnitude: 1,
  };
}

function rotaryOf(facts: TransformersFacts, headWidth: number): RotaryConfig {
  const base = rotaryBase(facts, headWidth);
  const scaling = facts.ropeScaling;
  const type = scaling.text('rope_type', scaling.text('type', 'default'));
  if (type === 'default') return base;
  if (type === 'linear') return { ...base, scale: 1 / scaling.number('factor') };
  if (type === 'yarn') return yarnRotary(facts, base);
  if (type !== 'llama3') {
    facts.refuse(`positions scaled by ${type}`);
    return base;
  }
  const factors = llama3Factors(base, {
    factor: scaling.number('factor'),
    lowFactor: scaling.number('low_freq_factor'),
    highFactor: scaling.number('high_freq_factor'),
    originalContext: scaling.number('original_max_position_embeddings'),
  });
  return { ...base, factors };
}

function yarnRotary(facts: TransformersFacts, base: RotaryConfig): RotaryConfig {
  const scaling = facts.ropeScaling;
  const factor = scaling.number('factor');
  const original = scaling.optionalCount('original_max_position_embeddings');
  const factors = yarnFactors(base, {
    factor,
    originalContext: original ?? facts.count('max_position_embeddings'),
    fastTurns: scaling.number('beta_fast', 32),
    slowTurns: scaling.number('beta_slow', 1),
    truncates: scaling.flag('truncate', true),
  });
  const [weight, weightOfAll] = [scaling.number('mscale', 0), scaling.number('mscale_all_dim', 0)];
  const usual =
    weight > 0 && weightOfAll > 0
      ? yarnMagnitude(factor, weight) / yarnMagnitude(factor, weightOfAll)
      : yarnMagnitude(factor);
  return { ...base, factors, magnitude: scaling.number('attention_factor', usual) };
}
