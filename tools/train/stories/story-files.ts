import { type BytePairs, END, END_OF_TEXT } from './byte-pairs.ts';
import {
  POSITIONS,
  type StoryWeights,
  writeStoryModel,
} from '../../../src/text/testing/story-model.ts';
import { headWidth, type StorySizes } from '../../../src/text/testing/story-sizes.ts';

/** The model's folder as Hugging Face and transformers.js lay it out, by path in it. */
export function storyFiles(
  sizes: StorySizes,
  { weights, pairs }: { readonly weights: StoryWeights; readonly pairs: BytePairs },
): Map<string, string | Uint8Array> {
  const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
  const ends = { bos_token_id: END, eos_token_id: END, pad_token_id: END };
  return new Map<string, string | Uint8Array>([
    ['onnx/model_fp16.onnx', writeStoryModel(sizes, weights)],
    ['tokenizer.json', pairs.toJson()],
    ['config.json', json({ ...configOf(sizes), ...ends })],
    [
      'generation_config.json',
      json({ ...ends, do_sample: true, max_length: 128, temperature: 0.8 }),
    ],
    [
      'tokenizer_config.json',
      json({
        add_bos_token: false,
        add_prefix_space: false,
        bos_token: END_OF_TEXT,
        clean_up_tokenization_spaces: false,
        eos_token: END_OF_TEXT,
        model_max_length: POSITIONS,
        pad_token: END_OF_TEXT,
        tokenizer_class: 'GPT2Tokenizer',
      }),
    ],
  ]);
}

function configOf(sizes: StorySizes) {
  return {
    architectures: ['LlamaForCausalLM'],
    attention_bias: false,
    attention_dropout: 0,
    head_dim: headWidth(sizes),
    hidden_act: 'silu',
    hidden_size: sizes.width,
    intermediate_size: sizes.inner,
    max_position_embeddings: POSITIONS,
    mlp_bias: false,
    model_type: 'llama',
    num_attention_heads: sizes.heads,
    num_hidden_layers: sizes.layers,
    num_key_value_heads: sizes.keyHeads,
    rms_norm_eps: sizes.epsilon,
    rope_theta: sizes.theta,
    tie_word_embeddings: true,
    torch_dtype: 'float16',
    'transformers.js_config': { dtype: 'fp16', kv_cache_dtype: { fp16: 'float16' } },
    use_cache: true,
    vocab_size: sizes.vocabulary,
  };
}
