import type { Expr } from '../../../compiler/ir/expr.ts';
import type { Architecture } from './architecture.ts';
import { configOfGguf } from './gguf-config.ts';
import type { LayerBuilder } from './layer-builder.ts';
import { swiGlu, llama } from './llama.ts';
import { add } from './parts/tensor-calls.ts';
import { attentionTensors, gatedTensors, headNorms, widthNorms } from './tensor-spec.ts';
import { configOfTransformers, type TransformersFacts } from './transformers-config.ts';

/** Qwen 3 (A. Yang et al. 2025): as llama, with a norm over each head of queries and keys before they are turned. */
export const qwen3: Architecture = {
  name: 'qwen3',
  modelTypes: ['qwen3'],
  fromGguf: configOfGguf,
  fromTransformers: qwenConfig,

  layerTensors: (config) => [
    ...widthNorms(config, 'attn_norm', 'ffn_norm'),
    ...headNorms(config),
    ...attentionTensors(config),
    ...gatedTensors(config),
  ],

  layer(layer, x) {
    const y = add(x, attentionOfNormedHeads(layer, layer.norm(x, 'attn_norm')));
    return add(y, swiGlu(layer, layer.norm(y, 'ffn_norm')));
  },
};

/** Attention whose queries and keys are normed, then turned. */
export function attentionOfNormedHeads(layer: LayerBuilder, x: Expr): Expr {
  const { heads, keyHeads } = layer.config;
  const queries = layer.norm(layer.split(layer.linear(x, 'attn_q'), heads), 'attn_q_norm');
  const keys = layer.norm(layer.split(layer.linear(x, 'attn_k'), keyHeads), 'attn_k_norm');
  const query = layer.rotate(queries, heads);
  const key = layer.rotate(keys, keyHeads);
  const value = layer.split(layer.linear(x, 'attn_v'), keyHeads);
  return layer.linear(layer.attend({ query, key, value }), 'attn_output');
}

/** Qwen 2 and 2.5 (A. Yang et al. 2024): as llama, with biases of queries, keys and values. */
export const qwen2: Architecture = {
  name: 'qwen2',
  modelTypes: ['qwen2'],
  fromGguf: configOfGguf,
  fromTransformers: qwenConfig,

  layerTensors: (config) => [
    ...widthNorms(config, 'attn_norm', 'ffn_norm'),
    ...attentionTensors(config, 'required'),
    ...gatedTensors(config),
  ],

  layer: llama.layer,
};

/** Qwen's files have the size of a window also where it is not used. */
function qwenConfig(facts: TransformersFacts): ReturnType<typeof configOfTransformers> {
  const config = configOfTransformers(facts, { activation: 'silu' });
  if (facts.flag('use_sliding_window', false))
    facts.refuse('layers that slide (use_sliding_window)');
  return { ...config, windows: config.windows.map(() => undefined) };
}
