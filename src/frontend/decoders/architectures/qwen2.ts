import type { Architecture } from './architecture.ts';
import { configOfGguf } from './gguf-config.ts';
import { llama } from './llama.ts';
import { attentionTensors, gatedTensors, widthNorms } from './tensor-spec.ts';
import { configOfTransformers, type TransformersFacts } from './transformers-config.ts';

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
export function qwenConfig(facts: TransformersFacts): ReturnType<typeof configOfTransformers> {
  const config = configOfTransformers(facts, { activation: 'silu' });
  if (facts.flag('use_sliding_window', false))
    facts.refuse('layers that slide (use_sliding_window)');
  return { ...config, windows: config.windows.map(() => undefined) };
}
