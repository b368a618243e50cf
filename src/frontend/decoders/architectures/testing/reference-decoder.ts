/** A `config.json` with what tests need of it. */
export interface TestedConfig {
  readonly model_type: string;
  readonly vocab_size: number;
  readonly hidden_size: number;
  readonly intermediate_size: number;
  readonly num_hidden_layers: number;
  readonly num_attention_heads: number;
  readonly num_key_value_heads: number;
  readonly head_dim: number;
  readonly rms_norm_eps: number;
  readonly rope_theta: number;
  readonly max_position_embeddings: number;
  readonly tie_word_embeddings: boolean;
  readonly sliding_window?: number;
  readonly rope_local_base_freq?: number;
  readonly rope_scaling?: Readonly<Record<string, number | string | readonly number[]>>;
  readonly partial_rotary_factor?: number;
  readonly original_max_position_embeddings?: number;
  readonly query_pre_attn_scalar?: number;
  readonly attn_logit_softcapping?: number;
  readonly final_logit_softcapping?: number;
}

/** Weights by their names in transformers; matrices are [outputs, inputs], row-major. */
export type TestedWeights = ReadonlyMap<string, ArrayLike<number>>;

type Vector = number[];

/**
 * Logits behind each token of a sequence, as the models of transformers compute them
 * (`modeling_llama.py`, `modeling_qwen2.py`, `modeling_qwen3.py`, `modeling_gemma2.py`, `modeling_gemma3.py`,
 * `modeling_phi3.py`): loops over plain arrays in double precision, a token at a time, without caches or
 * anything of the compiler.
 */
export function referenceLogits(
  config: TestedConfig,
  weights: TestedWeights,
  tokens: readonly number[],
): Vector[] {
  const model = new ReferenceDecoder(config, weights);
  return model.logits(tokens);
}

class ReferenceDecoder {
  readonly #config: TestedConfig;
  readonly #weights: TestedWeights;
  readonly #isGemma: boolean;

  constructor(config: TestedConfig, weights: TestedWeights) {
    this.#config = config;
    this.#weights = weights;
    this.#isGemma = config.model_type.startsWith('gemma');
  }

  logits(tokens: readonly number[]): Vector[] {
    const { hidden_size: width, num_hidden_layers: layers } = this.#config;
    const embedding = this.#weight('model.embed_tokens.weight');
    const scale = this.#isGemma ? Math.sqrt(width) : 1;
    let states = tokens.map((token) =>
      Array.from({ length: width }, (_, i) => scale * (embedding[token * width + i] ?? NaN)),
    );
    for (let layer = 0; layer < layers; layer++) states = this.#layer(states, layer);
    const tied = this.#config.tie_word_embeddings;
    const cap = this.#config.final_logit_softcapping;
    return states.map((state) => {
      const normed = this.#norm(state, 'model.norm');
      const logits = this.#times(normed, tied ? 'model.embed_tokens' : 'lm_head');
      return cap === undefined ? logits : logits.map((x) => cap * Math.tanh(x / cap));
    });
  }

  #layer(states: readonly Vector[], layer: number): Vector[] {
    const at = `model.layers.${layer}`;
    const attended = this.#attention(
      states.map((x) => this.#norm(x, `${at}.input_layernorm`)),
      layer,
    );
    return states.map((x, t) => {
      if (!this.#isGemma) {
        const y = plus(x, attended[t] ?? []);
        const normed = this.#norm(y, `${at}.post_attention_layernorm`);
        return plus(y, this.#feedForward(normed, at));
      }
      const y = plus(x, this.#norm(attended[t] ?? [], `${at}.post_attention_layernorm`));
      const fed = this.#feedForward(this.#norm(y, `${at}.pre_feedforward_layernorm`), at);
      return plus(y, this.#norm(fed, `${at}.post_feedforward_layernorm`));
    });
  }

  #attention(inputs: readonly Vector[], layer: number): Vector[] {
    const {
      num_attention_heads: heads,
      num_key_value_heads: keyHeads,
      head_dim: size,
      attn_logit_softcapping: cap,
      query_pre_attn_scalar: scalar = size,
    } = this.#config;
    const window = this.#window(layer);
    const all = inputs.map((x, t) => this.#heads(x, layer, t));
    const output: Vector[] = [];
    for (const [t, { queries }] of all.entries()) {
      const mixed: Vector = [];
      for (let head = 0; head < heads; head++) {
        const shared = Math.floor(head / (heads / keyHeads));
        const seen = all.slice(Math.max(0, t - window + 1), t + 1);
        const scores = seen.map(({ keys }) => {
          const score = dot(queries[head] ?? [], keys[shared] ?? []) / Math.sqrt(scalar);
          return cap === undefined ? score : cap * Math.tanh(score / cap);
        });
        const most = Math.max(...scores);
        const powers = scores.map((score) => Math.exp(score - most));
        const sum = powers.reduce((a, b) => a + b, 0);
        for (let i = 0; i < size; i++) {
          mixed.push(
            seen.reduce((total, { values }, j) => {
              return total + ((powers[j] ?? 0) / sum) * (values[shared]?.[i] ?? NaN);
            }, 0),
          );
        }
      }
      output.push(this.#times(mixed, `model.layers.${layer}.self_attn.o_proj`));
    }
    return output;
  }

  #heads(x: Vector, layer: number, position: number) {
    const {
      num_attention_heads: heads,
      num_key_value_heads: keyHeads,
      head_dim: size,
    } = this.#config;
    const at = `model.layers.${layer}.self_attn`;
    const isFused = this.#weights.has(`${at}.qkv_proj.weight`);
    const joined = isFused
      ? this.#times(x, `${at}.qkv_proj`)
      : ['q_proj', 'k_proj', 'v_proj'].flatMap((name) => this.#times(x, `${at}.${name}`));
    const all = Array.from({ length: heads + 2 * keyHeads }, (_, i) =>
      joined.slice(i * size, (i + 1) * size),
    );
    const normed = (head: Vector, name: string): Vector =>
      this.#weights.has(`${at}.${name}.weight`) ? this.#norm(head, `${at}.${name}`) : head;
    const angles = this.#angles(layer);
    return {
      queries: all
        .slice(0, heads)
        .map((head) => this.#rotate(normed(head, 'q_norm'), angles, position)),
      keys: all
        .slice(heads, heads + keyHeads)
        .map((head) => this.#rotate(normed(head, 'k_norm'), angles, position)),
      values: all.slice(heads + keyHeads),
    };
  }

  /** `rotate_half`: x cos + (-second, first) sin, over the part of a head that is turned. */
  #rotate(head: Vector, { inverse, factor }: Angles, position: number): Vector {
    const half = inverse.length;
    return head.map((x, i) => {
      if (i >= 2 * half) return x;
      const angle = position * (inverse[i % half] ?? NaN);
      const other = i < half ? -(head[i + half] ?? NaN) : (head[i - half] ?? NaN);
      return factor * (x * Math.cos(angle) + other * Math.sin(angle));
    });
  }

  #angles(layer: number): Angles {
    const config = this.#config;
    const slides = this.#window(layer) !== Infinity;
    const isLocal = slides && config.rope_local_base_freq !== undefined;
    const base = isLocal ? config.rope_local_base_freq : config.rope_theta;
    const size = config.head_dim * (config.partial_rotary_factor ?? 1);
    const plain = Array.from({ length: size / 2 }, (_, i) => 1 / (base ?? NaN) ** ((2 * i) / size));
    const scaling = config.rope_scaling;
    if (scaling === undefined || isLocal) return { inverse: plain, factor: 1 };
    const factor = Number(scaling['factor']);
    switch (scaling['rope_type'] ?? scaling['type']) {
      case 'linear':
        return { inverse: plain.map((f) => f / factor), factor: 1 };
      case 'llama3':
        return { inverse: plain.map((f) => llama3(f, scaling)), factor: 1 };
      case 'yarn':
        return {
          inverse: plain.map((f, i) => yarn(f, { pair: i, size, base: base ?? NaN, scaling })),
          factor: Number(scaling['attention_factor'] ?? 0.1 * Math.log(factor) + 1),
        };
      case 'longrope': {
        const original = config.original_max_position_embeddings ?? NaN;
        const times = config.max_position_embeddings / original;
        const long = scaling['long_factor'] as readonly number[];
        return {
          inverse: plain.map((f, i) => f / (long[i] ?? NaN)),
          factor: Math.sqrt(1 + Math.log(times) / Math.log(original)),
        };
      }
      default:
        throw new Error(`no scaling ${JSON.stringify(scaling)}`);
    }
  }

  #window(layer: number): number {
    const { model_type: type, sliding_window: window = Infinity } = this.#config;
    const isGlobal =
      (type === 'gemma2' && layer % 2 === 1) || (type.startsWith('gemma3') && layer % 6 === 5);
    return isGlobal ? Infinity : window;
  }

  #feedForward(x: Vector, at: string): Vector {
    const inner = this.#config.intermediate_size;
    const isFused = this.#weights.has(`${at}.mlp.gate_up_proj.weight`);
    const both = isFused
      ? this.#times(x, `${at}.mlp.gate_up_proj`)
      : ['gate_proj', 'up_proj'].flatMap((name) => this.#times(x, `${at}.mlp.${name}`));
    const bend = this.#isGemma ? gelu : silu;
    const opened = both.slice(0, inner).map((gate, i) => bend(gate) * (both[inner + i] ?? NaN));
    return this.#times(opened, `${at}.mlp.down_proj`);
  }

  #norm(x: Vector, name: string): Vector {
    const weight = this.#weight(`${name}.weight`);
    const mean = x.reduce((sum, y) => sum + y * y, 0) / x.length;
    const scale = 1 / Math.sqrt(mean + this.#config.rms_norm_eps);
    return x.map((y, i) => y * scale * ((weight[i] ?? NaN) + (this.#isGemma ? 1 : 0)));
  }

  #times(x: Vector, name: string): Vector {
    const weight = this.#weight(`${name}.weight`);
    const bias = this.#weights.get(`${name}.bias`);
    return Array.from({ length: weight.length / x.length }, (_, row) => {
      let sum = bias?.[row] ?? 0;
      for (let i = 0; i < x.length; i++) sum += (weight[row * x.length + i] ?? NaN) * (x[i] ?? NaN);
      return sum;
    });
  }

  #weight(name: string): ArrayLike<number> {
    const weight = this.#weights.get(name);
    if (weight === undefined) throw new Error(`no weight ${name}`);
    return weight;
  }
}

interface Angles {
  /** Radians a position of each pair. */
  readonly inverse: readonly number[];
  /** Multiplies cosines and sines. */
  readonly factor: number;
}

/** `_compute_llama3_parameters` */
function llama3(frequency: number, scaling: NonNullable<TestedConfig['rope_scaling']>): number {
  const [factor, low, high, original] = [
    'factor',
    'low_freq_factor',
    'high_freq_factor',
    'original_max_position_embeddings',
  ].map((key) => Number(scaling[key]));
  if (!factor || !low || !high || !original) throw new Error('llama3 lacks a parameter');
  const wavelength = (2 * Math.PI) / frequency;
  if (wavelength > original / low) return frequency / factor;
  if (wavelength < original / high) return frequency;
  const smooth = (original / wavelength - low) / (high - low);
  return ((1 - smooth) * frequency) / factor + smooth * frequency;
}

interface YarnPair {
  readonly pair: number;
  readonly size: number;
  readonly base: number;
  readonly scaling: NonNullable<TestedConfig['rope_scaling']>;
}

/** `_compute_yarn_parameters` */
function yarn(frequency: number, { pair, size, base, scaling }: YarnPair): number {
  const original = Number(scaling['original_max_position_embeddings']);
  const dimension = (rotations: number): number =>
    (size * Math.log(original / (rotations * 2 * Math.PI))) / (2 * Math.log(base));
  const low = Math.max(Math.floor(dimension(Number(scaling['beta_fast'] ?? 32))), 0);
  const high = Math.min(Math.ceil(dimension(Number(scaling['beta_slow'] ?? 1))), size - 1);
  const ramp = Math.min(Math.max((pair - low) / (high - low || 0.001), 0), 1);
  const extrapolated = 1 - ramp;
  const interpolation = frequency / Number(scaling['factor']);
  return interpolation * (1 - extrapolated) + frequency * extrapolated;
}

const plus = (a: Vector, b: Vector): Vector => a.map((x, i) => x + (b[i] ?? NaN));
const dot = (a: Vector, b: Vector): number => a.reduce((sum, x, i) => sum + x * (b[i] ?? NaN), 0);
const silu = (x: number): number => x / (1 + Math.exp(-x));
const gelu = (x: number): number =>
  0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
