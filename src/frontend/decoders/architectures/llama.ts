import type { Expr } from '../../../compiler/ir/expr.ts';
import type { Architecture } from './architecture.ts';
import { configOfGguf } from './gguf-config.ts';
import type { LayerBuilder } from './layer-builder.ts';
import { add, mul, silu } from './parts/tensor-calls.ts';
import { attentionTensors, gatedTensors, widthNorms } from './tensor-spec.ts';
import { configOfTransformers } from './transformers-config.ts';

/** Factors of frequencies that GGUF files of Llama 3.1 and later have. */
const FACTORS = 'rope_freqs.weight';

/** Llama 2 and 3 (H. Touvron et al. 2023), and Mistral: SwiGLU behind grouped attention, a norm before each. */
export const llama: Architecture = {
  name: 'llama',
  modelTypes: ['llama', 'mistral'],

  fromGguf(facts) {
    const config = configOfGguf(facts, { readsLongFactors: true });
    const { rotary } = config;
    const hasFactors = facts.file.tensors.has(FACTORS);
    if (hasFactors && rotary.factors !== undefined)
      facts.refuse(`positions scaled by ${facts.text('rope.scaling.type', '')} beside ${FACTORS}`);
    const factors = hasFactors ? FACTORS : rotary.factors;
    return { ...config, rotary: { ...rotary, factors }, hasAdjacentPairs: true };
  },

  fromTransformers: (facts) => configOfTransformers(facts, { activation: 'silu' }),

  layerTensors: (config) => [
    ...widthNorms(config, 'attn_norm', 'ffn_norm'),
    ...attentionTensors(config, 'optional'),
    ...gatedTensors(config, 'optional'),
  ],

  layer(layer, x) {
    const attended = llamaAttention(layer, layer.norm(x, 'attn_norm'));
    const y = add(x, attended);
    return add(y, swiGlu(layer, layer.norm(y, 'ffn_norm')));
  },
};

/** Attention whose queries and keys are turned by their positions. */
export function llamaAttention(layer: LayerBuilder, x: Expr): Expr {
  const { heads, keyHeads } = layer.config;
  const query = layer.rotate(layer.split(layer.linear(x, 'attn_q'), heads), heads);
  const key = layer.rotate(layer.split(layer.linear(x, 'attn_k'), keyHeads), keyHeads);
  const value = layer.split(layer.linear(x, 'attn_v'), keyHeads);
  return layer.linear(layer.attend({ query, key, value }), 'attn_output');
}

/** A feed-forward network whose first product is opened by another (N. Shazeer 2020). */
export function swiGlu(layer: LayerBuilder, x: Expr): Expr {
  const gate = silu(layer.linear(x, 'ffn_gate'));
  return layer.linear(mul(gate, layer.linear(x, 'ffn_up')), 'ffn_down');
}
