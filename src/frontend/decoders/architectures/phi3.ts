import type { Architecture } from './architecture.ts';
import type { RotaryConfig } from './decoder-config.ts';
import { configOfGguf } from './gguf-config.ts';
import { longRopeMagnitude } from './parts/rotary-scaling.ts';
import { add, lastSlice, mul, silu } from './parts/tensor-calls.ts';
import { linear, widthNorms } from './tensor-spec.ts';
import { configOfTransformers, rotaryBase, type TransformersFacts } from './transformers-config.ts';

/**
 * Phi 3, 3.5 and 4 mini (M. Abdin et al. 2024): as llama, with queries, keys and values in one product, and both
 * of the feed-forward network in another. Long contexts scale the frequencies of pairs each by its own factor.
 */
export const phi3: Architecture = {
  name: 'phi3',
  modelTypes: ['phi3'],

  fromGguf(facts) {
    const config = configOfGguf(facts, { readsLongFactors: true });
    const window = facts.optionalCount('attention.sliding_window');
    return { ...config, windows: config.windows.map(() => window) };
  },

  fromTransformers(facts) {
    const headWidth = facts.count('hidden_size') / facts.count('num_attention_heads');
    const rotary = transformersRotary(facts, rotaryBase(facts, headWidth));
    return configOfTransformers(facts, { activation: 'silu', rotary });
  },

  transformersNames: { attn_qkv: 'self_attn.qkv_proj', ffn_up: 'mlp.gate_up_proj' },

  layerTensors(config) {
    const { width, inner, heads, keyHeads, headWidth } = config;
    return [
      ...widthNorms(config, 'attn_norm', 'ffn_norm'),
      ...linear('attn_qkv', [(heads + 2 * keyHeads) * headWidth, width]),
      ...linear('attn_output', [width, heads * headWidth]),
      ...linear('ffn_up', [2 * inner, width]),
      ...linear('ffn_down', [width, inner]),
    ];
  },

  layer(layer, x) {
    const { heads, keyHeads, headWidth, inner } = layer.config;
    const [keysAt, valuesAt, end] = [heads, heads + keyHeads, heads + 2 * keyHeads];
    const joined = layer.linear(layer.norm(x, 'attn_norm'), 'attn_qkv');
    const part = (from: number, to: number) =>
      layer.split(
        lastSlice(joined, ['b', 's', end * headWidth], [from * headWidth, to * headWidth]),
        to - from,
      );
    const query = layer.rotate(part(0, keysAt), heads);
    const key = layer.rotate(part(keysAt, valuesAt), keyHeads);
    const value = part(valuesAt, end);
    const y = add(x, layer.linear(layer.attend({ query, key, value }), 'attn_output'));

    const both = layer.linear(layer.norm(y, 'ffn_norm'), 'ffn_up');
    const half = (from: number) =>
      lastSlice(both, ['b', 's', 2 * inner], [from * inner, (from + 1) * inner]);
    return add(y, layer.linear(mul(silu(half(0)), half(1)), 'ffn_down'));
  },
};

function transformersRotary(facts: TransformersFacts, base: RotaryConfig): RotaryConfig {
  const scaling = facts.ropeScaling;
  const type = scaling.text('rope_type', scaling.text('type', 'default'));
  if (type === 'default') return base;
  if (type !== 'longrope' && type !== 'su') {
    facts.refuse(`positions scaled by ${type}`);
    return base;
  }
  const most = facts.count('max_position_embeddings');
  const original = facts.count(
    'original_max_position_embeddings',
    scaling.optionalCount('original_max_position_embeddings') ?? most,
  );
  const magnitude = scaling.number(
    'attention_factor',
    longRopeMagnitude(most / original, original),
  );
  const isLong = (facts.file.askedContext ?? most) > original;
  const factors = scaling.numbers(isLong ? 'long_factor' : 'short_factor', base.width / 2);
  return { ...base, factors, magnitude };
}
