import type { Expr } from '../../../compiler/ir/expr.ts';
import type { Architecture } from './architecture.ts';
import type { DecoderConfig } from './decoder-config.ts';
import { configOfGguf } from './gguf-config.ts';
import type { LayerBuilder } from './layer-builder.ts';
import { llamaAttention } from './llama.ts';
import { add, geluTanh, mul } from './parts/tensor-calls.ts';
import { attentionTensors, gatedTensors, widthNorms } from './tensor-spec.ts';
import { configOfTransformers, type TransformersFacts } from './transformers-config.ts';

/** Layers of the 27B model, whose scores are scaled by the width of the hidden state for each head. */
const LARGEST = 46;

/**
 * Gemma 2 (Gemma Team 2024): norms before and behind attention and the feed-forward network, scores and logits
 * limited by a hyperbolic tangent; every second layer sees all keys, the others the last ones.
 */
export const gemma2: Architecture = {
  name: 'gemma2',
  modelTypes: ['gemma2'],

  fromGguf(facts) {
    const config = gemmaConfig(configOfGguf(facts));
    const { heads, headWidth, layers, width } = config;
    const window = facts.count('attention.sliding_window', 4096);
    return {
      ...config,
      windows: config.windows.map((_, layer) => (layer % 2 === 0 ? window : undefined)),
      attentionScale: 1 / Math.sqrt(layers === LARGEST ? width / heads : headWidth),
      attentionSoftcap: facts.number('attn_logit_softcapping', 50),
      logitSoftcap: facts.number('final_logit_softcapping', 30),
    };
  },

  fromTransformers(file) {
    const facts = file.withDefaults(DEFAULTS);
    const config = gemmaTransformersConfig(facts);
    return {
      ...config,
      windows: slidingWindows(facts, config, 2),
      attentionSoftcap: facts.optionalNumber('attn_logit_softcapping') ?? 0,
      logitSoftcap: facts.optionalNumber('final_logit_softcapping') ?? 0,
    };
  },

  transformersNames: {
    post_attention_norm: 'post_attention_layernorm',
    ffn_norm: 'pre_feedforward_layernorm',
    post_ffw_norm: 'post_feedforward_layernorm',
  },

  layerTensors: (config) => [
    ...gemmaNorms(config),
    ...attentionTensors(config, 'optional'),
    ...gatedTensors(config),
  ],

  layer: (layer, x) => gemmaLayer(layer, x, llamaAttention),
};

const DEFAULTS = {
  head_dim: 256,
  rms_norm_eps: 1e-6,
  max_position_embeddings: 8192,
  sliding_window: 4096,
  query_pre_attn_scalar: 256,
  attn_logit_softcapping: 50,
  final_logit_softcapping: 30,
  tie_word_embeddings: true,
};

/** Multiplies embeddings by the root of their width, rounded to float32, as all Gemmas do. */
export const gemmaConfig = (config: DecoderConfig): DecoderConfig => ({
  ...config,
  embeddingScale: Math.fround(Math.sqrt(config.width)),
});

/** Transformers add 1 to the weights of norms; files of GGUF have it added. */
export function gemmaTransformersConfig(facts: TransformersFacts): DecoderConfig {
  const activation = { activation: 'gelu_pytorch_tanh', activationKey: 'hidden_activation' };
  return {
    ...gemmaConfig(configOfTransformers(facts, activation)),
    attentionScale: facts.number('query_pre_attn_scalar') ** -0.5,
    normOffset: 1,
  };
}

/** The windows of layers, of which the last of every few sees all keys, unless the file lists their kinds. */
export function slidingWindows(
  facts: TransformersFacts,
  { layers }: DecoderConfig,
  every: number,
): readonly (number | undefined)[] {
  const window = facts.count('sliding_window');
  const kinds = facts.value('layer_types');
  const slides = (layer: number): boolean =>
    Array.isArray(kinds) ? kinds[layer] === 'sliding_attention' : (layer + 1) % every !== 0;
  return Array.from({ length: layers }, (_, layer) => (slides(layer) ? window : undefined));
}

export const gemmaNorms = (config: DecoderConfig): ReturnType<typeof widthNorms> =>
  widthNorms(config, 'attn_norm', 'post_attention_norm', 'ffn_norm', 'post_ffw_norm');

/** A layer with norms behind its parts too. */
export function gemmaLayer(
  layer: LayerBuilder,
  x: Expr,
  attention: (layer: LayerBuilder, x: Expr) => Expr,
): Expr {
  const attended = attention(layer, layer.norm(x, 'attn_norm'));
  const y = add(x, layer.norm(attended, 'post_attention_norm'));
  const fed = geGlu(layer, layer.norm(y, 'ffn_norm'));
  return add(y, layer.norm(fed, 'post_ffw_norm'));
}

/** The gated feed-forward network: SwiGLU with GELU in place of SiLU. */
function geGlu(layer: LayerBuilder, x: Expr): Expr {
  const gate = geluTanh(layer.linear(x, 'ffn_gate'));
  return layer.linear(mul(gate, layer.linear(x, 'ffn_up')), 'ffn_down');
}
