import type { Architecture } from './architecture.ts';
import {
  gemma2,
  gemmaConfig,
  gemmaLayer,
  gemmaNorms,
  gemmaTransformersConfig,
  slidingWindows,
} from './gemma2.ts';
import { configOfGguf } from './gguf-config.ts';
import { attentionOfNormedHeads } from './qwen.ts';
import { attentionTensors, gatedTensors, headNorms } from './tensor-spec.ts';

/** Every sixth layer sees all keys. */
const EVERY = 6;

/** Layers of the 27B model, whose scores are scaled by the width of the hidden state for each head. */
const LARGEST = 62;

/**
 * Gemma 3 (Gemma Team 2025), its text: norms over heads in place of limits; five of six layers see the last
 * keys, and turn them by a base of their own.
 */
export const gemma3: Architecture = {
  name: 'gemma3',
  modelTypes: ['gemma3_text', 'gemma3'],

  fromGguf(facts) {
    const config = gemmaConfig(configOfGguf(facts));
    const { heads, headWidth, layers, width, rotary } = config;
    const window = facts.count('attention.sliding_window');
    const theta = facts.number('rope.freq_base_swa', 10_000);
    const every = facts.count('attention.sliding_window_pattern', EVERY);
    return {
      ...config,
      windows: config.windows.map((_, layer) => ((layer + 1) % every === 0 ? undefined : window)),
      rotary: { ...rotary, theta: facts.number('rope.freq_base', 1_000_000) },
      slidingRotary: { width: rotary.width, theta, scale: 1, magnitude: 1 },
      attentionScale: 1 / Math.sqrt(layers === LARGEST ? width / heads : headWidth),
      logitSoftcap: facts.number('final_logit_softcapping', 0),
    };
  },

  fromTransformers(file) {
    const facts = file.withDefaults(DEFAULTS);
    const config = gemmaTransformersConfig(facts);
    const every = facts.count(
      'sliding_window_pattern',
      facts.count('_sliding_window_pattern', EVERY),
    );
    const theta = facts.number('rope_local_base_freq', slidingBase(facts.value('rope_parameters')));
    return {
      ...config,
      windows: slidingWindows(facts, config, every),
      slidingRotary: { width: config.rotary.width, theta, scale: 1, magnitude: 1 },
      logitSoftcap: facts.optionalNumber('final_logit_softcapping') ?? 0,
    };
  },

  transformersNames: gemma2.transformersNames ?? {},

  layerTensors: (config) => [
    ...gemmaNorms(config),
    ...headNorms(config),
    ...attentionTensors(config),
    ...gatedTensors(config),
  ],

  layer: (layer, x) => gemmaLayer(layer, x, attentionOfNormedHeads),
};

const DEFAULTS = {
  num_attention_heads: 8,
  num_key_value_heads: 4,
  head_dim: 256,
  rms_norm_eps: 1e-6,
  max_position_embeddings: 131_072,
  sliding_window: 4096,
  query_pre_attn_scalar: 256,
  rope_theta: 1_000_000,
  tie_word_embeddings: true,
};

/** The base of layers that slide as transformers 5 has it. */
function slidingBase(parameters: unknown): number {
  const { sliding_attention: sliding } = (parameters ?? {}) as Record<string, unknown>;
  const { rope_theta: theta } = (sliding ?? {}) as Record<string, unknown>;
  return typeof theta === 'number' ? theta : 10_000;
}
