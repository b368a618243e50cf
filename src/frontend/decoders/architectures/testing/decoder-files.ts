import { seededRandom } from '../../../../core/random.ts';
import { decodeElements } from '../../files/blocks/decode-elements.ts';
import { encodeElements } from '../../files/testing/encode-elements.ts';
import {
  type WrittenGguf,
  type WrittenTensor,
  type WrittenValue,
  writeGguf,
} from '../../files/testing/gguf-writer.ts';
import type { TokenizerMetadata } from '../../files/testing/gguf-vocabularies.ts';
import { writeSafetensors } from '../../files/testing/safetensors-writer.ts';
import type { TestedConfig, TestedWeights } from './reference-decoder.ts';

/** The shapes of a decoder's weights, by their names in transformers. */
export function weightShapes(config: TestedConfig): Map<string, readonly number[]> {
  const { hidden_size: width, intermediate_size: inner, model_type: type, head_dim: size } = config;
  const queries = config.num_attention_heads * size;
  const keys = config.num_key_value_heads * size;
  const shapes = new Map<string, readonly number[]>([
    ['model.embed_tokens.weight', [config.vocab_size, width]],
    ['model.norm.weight', [width]],
  ]);
  if (!config.tie_word_embeddings) shapes.set('lm_head.weight', [config.vocab_size, width]);
  const isGemma = type.startsWith('gemma');
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const set = (name: string, ...shape: number[]): unknown =>
      shapes.set(`model.layers.${layer}.${name}`, shape);
    set('input_layernorm.weight', width);
    set('post_attention_layernorm.weight', width);
    if (isGemma) set('pre_feedforward_layernorm.weight', width);
    if (isGemma) set('post_feedforward_layernorm.weight', width);
    if (type === 'phi3') {
      set('self_attn.qkv_proj.weight', queries + 2 * keys, width);
      set('mlp.gate_up_proj.weight', 2 * inner, width);
    } else {
      set('self_attn.q_proj.weight', queries, width);
      set('self_attn.k_proj.weight', keys, width);
      set('self_attn.v_proj.weight', keys, width);
      set('mlp.gate_proj.weight', inner, width);
      set('mlp.up_proj.weight', inner, width);
    }
    if (type === 'qwen2') {
      set('self_attn.q_proj.bias', queries);
      set('self_attn.k_proj.bias', keys);
      set('self_attn.v_proj.bias', keys);
    }
    if (type === 'qwen3' || type.startsWith('gemma3')) {
      set('self_attn.q_norm.weight', size);
      set('self_attn.k_norm.weight', size);
    }
    set('self_attn.o_proj.weight', width, queries);
    set('mlp.down_proj.weight', width, inner);
  }
  return shapes;
}

/** A stored weight of a decoder in the layout of transformers, and the elements that its bytes stand for. */
export interface TestedTensor extends WrittenTensor {
  readonly values: Float32Array;
}

/** A decoder with weights, for files and for the reference. */
export interface TestedDecoder {
  readonly config: TestedConfig;
  readonly tensors: readonly TestedTensor[];
  /** The elements that the stored bytes stand for. */
  readonly weights: TestedWeights;
}

/** A decoder with given weights, each stored as the type that `typeOf` says; vectors as F32. */
export function decoderOf(
  config: TestedConfig,
  elements: (name: string, shape: readonly number[]) => ArrayLike<number>,
  typeOf: (name: string) => string = () => 'F32',
): TestedDecoder {
  const tensors = [...weightShapes(config)].map(([name, shape]): TestedTensor => {
    const given = elements(name, shape);
    const type = shape.length === 1 ? 'F32' : typeOf(name);
    const bytes = encodeElements(type, given);
    const values = decodeElements(bytes, { type, count: given.length, where: name });
    return { name, shape, type, bytes, values };
  });
  return { config, tensors, weights: new Map(tensors.map(({ name, values }) => [name, values])) };
}

/** A decoder of random weights: products keep the size of what they multiply, norms are near 1. */
export function randomDecoder(
  config: TestedConfig,
  seed: number,
  typeOf?: (name: string) => string,
): TestedDecoder {
  const random = seededRandom(seed);
  const isGemma = config.model_type.startsWith('gemma');
  const elements = (name: string, shape: readonly number[]): Float32Array => {
    const [rows = 1, columns] = shape;
    const isNorm = columns === undefined && name.endsWith('.weight');
    const size = name.includes('embed') ? 1 : columns === undefined ? 0.5 : Math.sqrt(3 / columns);
    return Float32Array.from(
      { length: rows * (columns ?? 1) },
      () => (random() * 2 - 1) * size + (isNorm && !isGemma ? 1 : 0),
    );
  };
  return decoderOf(config, elements, typeOf);
}

/** The decoder as a safetensors file. */
export function safetensorsOf({ tensors }: TestedDecoder): Uint8Array {
  return writeSafetensors(tensors, { format: 'pt' });
}

const GGUF_PARTS: Readonly<Record<string, string>> = {
  input_layernorm: 'attn_norm',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.qkv_proj': 'attn_qkv',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  'self_attn.o_proj': 'attn_output',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.gate_up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
  pre_feedforward_layernorm: 'ffn_norm',
  post_feedforward_layernorm: 'post_ffw_norm',
};

/** The decoder as llama.cpp's `convert_hf_to_gguf.py` writes it. */
export function ggufOf(...parts: Parameters<typeof ggufContents>): Uint8Array {
  return writeGguf(ggufContents(...parts));
}

/** The content of the file that {@link ggufOf} writes. */
export function ggufContents(
  { config, tensors }: TestedDecoder,
  more: Readonly<Record<string, WrittenValue>> = {},
  moreTensors: readonly WrittenTensor[] = [],
  tokenizer: TokenizerMetadata = {},
): WrittenGguf {
  const architecture = config.model_type === 'gemma3_text' ? 'gemma3' : config.model_type;
  const own = { ...metadataOf(config), ...more };
  const metadata: Record<string, WrittenValue> = {
    'general.architecture': architecture,
    ...tokenizer,
  };
  for (const [key, value] of Object.entries(own)) metadata[`${architecture}.${key}`] = value;
  const written = tensors.map((tensor) => ggufTensor(tensor, config));
  return { metadata, tensors: [...written, ...moreTensors] };
}

function metadataOf(config: TestedConfig): Record<string, WrittenValue> {
  const metadata: Record<string, WrittenValue> = {
    context_length: config.max_position_embeddings,
    embedding_length: config.hidden_size,
    block_count: config.num_hidden_layers,
    feed_forward_length: config.intermediate_size,
    'attention.head_count': config.num_attention_heads,
    'attention.head_count_kv': config.num_key_value_heads,
    'attention.key_length': config.head_dim,
    'attention.value_length': config.head_dim,
    'attention.layer_norm_rms_epsilon': { float32: config.rms_norm_eps },
    'rope.freq_base': { float32: config.rope_theta },
    'rope.dimension_count': config.head_dim * (config.partial_rotary_factor ?? 1),
  };
  const { sliding_window: window, attn_logit_softcapping: cap } = config;
  if (window !== undefined) metadata['attention.sliding_window'] = window;
  if (cap !== undefined) metadata['attn_logit_softcapping'] = { float32: cap };
  const last = config.final_logit_softcapping;
  if (last !== undefined) metadata['final_logit_softcapping'] = { float32: last };
  return metadata;
}

function ggufTensor(
  { name, shape, type, bytes, values }: TestedTensor,
  config: TestedConfig,
): WrittenTensor {
  const gguf = ggufName(name, config);
  const isGemmaNorm = config.model_type.startsWith('gemma') && name.endsWith('norm.weight');
  if (isGemmaNorm)
    return {
      name: gguf,
      shape,
      type,
      bytes: encodeElements(
        'F32',
        values.map((x) => x + 1),
      ),
    };
  const heads = name.includes('q_proj')
    ? config.num_attention_heads
    : name.includes('k_proj')
      ? config.num_key_value_heads
      : 0;
  if (config.model_type !== 'llama' || heads === 0) return { name: gguf, shape, type, bytes };
  return { name: gguf, shape, type, bytes: permuted(bytes, { rows: shape[0] ?? 1, heads }) };
}

function ggufName(name: string, config: TestedConfig): string {
  if (name === 'model.embed_tokens.weight') return 'token_embd.weight';
  if (name === 'model.norm.weight') return 'output_norm.weight';
  if (name === 'lm_head.weight') return 'output.weight';
  const [, layer, part = '', kind] = /^model\.layers\.(\d+)\.(.*)\.(\w+)$/.exec(name) ?? [];
  const behind = config.model_type.startsWith('gemma') ? 'post_attention_norm' : 'ffn_norm';
  const own = part === 'post_attention_layernorm' ? behind : GGUF_PARTS[part];
  return `blk.${layer}.${own}.${kind}`;
}

/** `LlamaModel.permute`: rows (head, half, i) become (head, i, half). */
function permuted(bytes: Uint8Array, { rows, heads }: { rows: number; heads: number }): Uint8Array {
  const size = bytes.length / rows;
  const half = rows / heads / 2;
  const out: number[] = [];
  for (let head = 0; head < heads; head++) {
    for (let i = 0; i < half; i++) {
      for (const part of [0, 1]) {
        const row = (head * 2 + part) * half + i;
        out.push(...bytes.subarray(row * size, (row + 1) * size));
      }
    }
  }
  return Uint8Array.from(out);
}
