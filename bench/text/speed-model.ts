import { numberToFloat16 } from '../../src/core/tensor/float16.ts';
import { seededRandom } from '../../src/core/random.ts';
import {
  ggufOf,
  type TestedTensor,
  weightShapes,
} from '../../src/frontend/decoders/architectures/testing/decoder-files.ts';
import { blockFormat } from '../../src/frontend/decoders/files/blocks/block-formats.ts';
import { decodeElements } from '../../src/frontend/decoders/files/blocks/decode-elements.ts';
import { repackBlocks } from '../../src/frontend/decoders/files/blocks/repack-blocks.ts';
import { type GgufHead, readGguf } from '../../src/frontend/decoders/files/gguf.ts';
import { writeGguf } from '../../src/frontend/decoders/files/testing/gguf-writer.ts';
import {
  llamaVocabulary,
  type TokenizerMetadata,
} from '../../src/frontend/decoders/files/testing/gguf-vocabularies.ts';
import { ggufTokenizer } from '../../src/frontend/decoders/files/tokenizer/gguf-tokenizer.ts';
import { folderFiles, ggufFolder } from '../../src/frontend/decoders/gguf-folder.ts';
import {
  openTokenizer,
  type SyncTokenizer,
} from '../../src/frontend/decoders/reader/text-reader.ts';
import { type StoryCodes, writeStoryModel } from '../../src/text/testing/story-model.ts';

/** A decoder like Llama's with 63 million weights, the embedding the head too. */
const CONFIG = {
  model_type: 'llama',
  vocab_size: 16_000,
  hidden_size: 768,
  intermediate_size: 2048,
  num_hidden_layers: 8,
  num_attention_heads: 12,
  num_key_value_heads: 4,
  head_dim: 64,
  rms_norm_eps: 1e-5,
  rope_theta: 10_000,
  max_position_embeddings: 2048,
  tie_word_embeddings: true,
};

export type SpeedType = 'Q4_0' | 'Q8_0';
export const SPEED_TYPES: readonly SpeedType[] = ['Q4_0', 'Q8_0'];

/** Elements of a block, and the bits of a code. */
const BLOCK = 32;
const BITS: Readonly<Record<SpeedType, number>> = { Q4_0: 4, Q8_0: 8 };

/** The files of one model of random weights. */
export interface SpeedModel {
  readonly weightCount: number;
  /** With its tokenizer. */
  readonly gguf: Uint8Array;
  /** The same weights as GroupQueryAttention and MatMulNBits, in float32 but for the codes. */
  readonly onnx: Uint8Array;
  /** Files that lie beside the ONNX file, by name. */
  readonly files: ReadonlyMap<string, string>;
  readonly tokenizer: SyncTokenizer;
}

/** Writes the model with matrices of a type. */
export async function speedModel(type: SpeedType): Promise<SpeedModel> {
  const random = seededRandom(7);
  const tensors = [...weightShapes(CONFIG)].map(([name, shape]) =>
    shape.length === 1 ? normTensor(name, shape) : codedTensor(name, shape, { type, random }),
  );
  const metadata = vocabulary();
  const gguf = ggufOf({ config: CONFIG, tensors, weights: new Map() }, {}, [], metadata);
  const head = readGguf(writeGguf({ metadata })) as GgufHead;
  const { tokenizer, tokenizerConfig } = ggufTokenizer(head.metadata);
  const folder = ggufFolder(head.metadata, {
    architecture: 'llama',
    config: { vocabulary: CONFIG.vocab_size, contextLength: CONFIG.max_position_embeddings },
  });
  if (folder === undefined) throw new Error('internal: a model without a tokenizer');
  return {
    weightCount: tensors.reduce((sum, { shape }) => sum + shape.reduce((x, y) => x * y, 1), 0),
    gguf,
    onnx: onnxOf(tensors, type),
    files: folderFiles(folder),
    tokenizer: await openTokenizer({ tokenizer, config: tokenizerConfig }),
  };
}

function normTensor(name: string, shape: readonly number[]): TestedTensor {
  const values = new Float32Array(shape[0] ?? 0).fill(1);
  return { name, shape, type: 'F32', bytes: new Uint8Array(values.buffer), values };
}

/** Random codes, with scales that keep the size of what is multiplied. */
function codedTensor(
  name: string,
  shape: readonly number[],
  { type, random }: { readonly type: SpeedType; readonly random: () => number },
): TestedTensor {
  const [rows = 1, columns = 1] = shape;
  const blockBytes = 2 + (BLOCK * BITS[type]) / 8;
  const bytes = new Uint8Array(((rows * columns) / BLOCK) * blockBytes);
  const view = new DataView(bytes.buffer);
  // Codes that are equally likely have a root mean square of the twelfth root of their number squared.
  const size = Math.sqrt(12 / (name.includes('embed') ? 1 : columns)) / 2 ** BITS[type];
  for (let at = 0; at < bytes.length; at += blockBytes) {
    view.setUint16(at, numberToFloat16(size * (0.75 + random() / 2)), true);
    for (let i = 2; i < blockBytes; i++) bytes[at + i] = random() * 256;
  }
  return { name, shape, type, bytes, values: new Float32Array() };
}

/** Tokens of texts, and as many more as the model has. */
function vocabulary(): TokenizerMetadata {
  const known = llamaVocabulary(900);
  const tokens = known['tokenizer.ggml.tokens'] as readonly string[];
  const types = known['tokenizer.ggml.token_type'] as Int32Array;
  const scores = known['tokenizer.ggml.scores'] as Float32Array;
  const more = Array.from({ length: CONFIG.vocab_size - tokens.length }, (_, i) => i);
  return {
    ...known,
    'tokenizer.ggml.tokens': [...tokens, ...more.map((i) => `▁more${i}`)],
    'tokenizer.ggml.token_type': Int32Array.from([...types, ...more.map(() => 1)]),
    'tokenizer.ggml.scores': Float32Array.from([...scores, ...more.map((i) => -10_000 - i)]),
  };
}

/** The names of weights in the ONNX writer. */
const PARTS: Readonly<Record<string, string>> = {
  'self_attn.q_proj': 'query',
  'self_attn.k_proj': 'key',
  'self_attn.v_proj': 'value',
  'self_attn.o_proj': 'output',
  'mlp.gate_proj': 'gate',
  'mlp.up_proj': 'up',
  'mlp.down_proj': 'down',
  input_layernorm: 'attention_norm',
  post_attention_layernorm: 'feed_norm',
};

function onnxNameOf(name: string): string {
  const [, layer, part = ''] = /^model\.layers\.(\d+)\.(.*)\.weight$/.exec(name) ?? [];
  if (layer !== undefined) return `l${layer}.${PARTS[part]}`;
  return name === 'model.norm.weight' ? 'norm' : 'embedding';
}

function onnxOf(tensors: readonly TestedTensor[], type: SpeedType): Uint8Array {
  const weights = new Map<string, Float32Array>();
  const codes = new Map<string, StoryCodes>();
  const format = blockFormat(type);
  if (format === undefined) throw new Error(`internal: ${type} is no type of blocks`);
  for (const { name, shape, bytes, values } of tensors) {
    const own = onnxNameOf(name);
    const [rows = 1, inputs] = shape;
    if (inputs === undefined) weights.set(own, values);
    else codes.set(own, { ...repackBlocks(bytes, format), inputs });
    if (own !== 'embedding' || inputs === undefined) continue;
    weights.set(own, decodeElements(bytes, { type, count: rows * inputs, where: name }));
  }
  const sizes = {
    vocabulary: CONFIG.vocab_size,
    width: CONFIG.hidden_size,
    layers: CONFIG.num_hidden_layers,
    heads: CONFIG.num_attention_heads,
    keyHeads: CONFIG.num_key_value_heads,
    inner: CONFIG.intermediate_size,
    epsilon: CONFIG.rms_norm_eps,
    theta: CONFIG.rope_theta,
  };
  const positions = CONFIG.max_position_embeddings;
  return writeStoryModel(sizes, weights, { dtype: 'float32', positions, codes });
}

/** Caches of one layer, [key heads, positions, head width]. */
export const CACHE = {
  layers: CONFIG.num_hidden_layers,
  heads: CONFIG.num_key_value_heads,
  width: CONFIG.head_dim,
};

/** A text and its tokens, the one that begins texts included. */
export interface SpeedPrompt {
  readonly text: string;
  readonly ids: readonly number[];
}

const WORDS = ['The', 'quick', 'brown', 'fox', 'Hello', 'world', '42', 'camelCase', '世界', 'мир'];

/** A random text of so many tokens; another one for another seed. */
export function promptOf(tokenizer: SyncTokenizer, length: number, seed: number): SpeedPrompt {
  const random = seededRandom(seed);
  let text = '';
  let ids: number[] = [];
  while (ids.length < length) {
    text += ` ${WORDS[Math.floor(random() * WORDS.length)]}`;
    ids = tokenizer.encode(text);
  }
  // Characters are few tokens each: one cut at the end is found.
  const characters = Array.from(text);
  for (let end = characters.length; end > 0; end--) {
    const cut = characters.slice(0, end).join('');
    const own = tokenizer.encode(cut);
    if (own.length === length) return { text: cut, ids: own };
    if (own.length < length) break;
  }
  return promptOf(tokenizer, length, seed + 1000);
}
