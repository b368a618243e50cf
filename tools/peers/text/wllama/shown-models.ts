import { seededRandom } from '../../../../src/core/random.ts';
import { encodeElements } from '../../../../src/frontend/decoders/files/testing/encode-elements.ts';
import {
  byteLevelVocabulary,
  gemmaVocabulary,
  llamaVocabulary,
  phiVocabulary,
  type TokenizerMetadata,
} from '../../../../src/frontend/decoders/files/testing/gguf-vocabularies.ts';
import { mixedStrings } from '../../../../src/frontend/decoders/files/testing/mixed-strings.ts';
import { type GgufHead, readGguf } from '../../../../src/frontend/decoders/files/gguf.ts';
import { writeGguf } from '../../../../src/frontend/decoders/files/testing/gguf-writer.ts';
import { ggufTokenizer } from '../../../../src/frontend/decoders/files/tokenizer/gguf-tokenizer.ts';
import { tokenBytes } from '../../../../src/frontend/decoders/reader/text-reader.ts';
import {
  decoderOf,
  ggufOf,
  type TestedDecoder,
} from '../../../../src/frontend/decoders/architectures/testing/decoder-files.ts';
import type { TestedConfig } from '../../../../src/frontend/decoders/architectures/testing/reference-decoder.ts';
import {
  storyDecoder,
  storyTokenizer,
} from '../../../../src/frontend/decoders/architectures/testing/story-decoder.ts';

/** A model that our own scripts write, in any type of elements. */
export interface ShownModel {
  readonly name: string;
  /** The decoder with its matrices in a type. */
  decoder(type: string): TestedDecoder;
  readonly tokenizer: TokenizerMetadata;
}

/** So many tokens, as far as the texts that vocabularies are learnt from give them. */
const TOKENS = 900;

/** Of a decoder whose texts are worth a look. */
export const SIZES = {
  hidden_size: 256,
  intermediate_size: 256,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 64,
  rms_norm_eps: 2 ** -17,
  rope_theta: 10_000,
  max_position_embeddings: 512,
  tie_word_embeddings: false,
};

const GEMMA = {
  tie_word_embeddings: true,
  query_pre_attn_scalar: 64,
  sliding_window: 48,
};

const CONFIGS: readonly [Omit<TestedConfig, 'vocab_size'>, TokenizerMetadata][] = [
  [{ ...SIZES, model_type: 'llama' }, llamaVocabulary(TOKENS)],
  [{ ...SIZES, model_type: 'qwen2' }, byteLevelVocabulary('qwen2', TOKENS)],
  [{ ...SIZES, model_type: 'qwen3', rope_theta: 1_000_000 }, byteLevelVocabulary('qwen2', TOKENS)],
  [
    {
      ...SIZES,
      ...GEMMA,
      model_type: 'gemma2',
      attn_logit_softcapping: 5,
      final_logit_softcapping: 30,
    },
    gemmaVocabulary(TOKENS),
  ],
  // The last of six layers sees all keys.
  [
    {
      ...SIZES,
      ...GEMMA,
      model_type: 'gemma3_text',
      num_hidden_layers: 6,
      rope_theta: 1_000_000,
      rope_local_base_freq: 10_000,
    },
    gemmaVocabulary(TOKENS),
  ],
  [{ ...SIZES, model_type: 'phi3' }, phiVocabulary(TOKENS)],
];

/** One of random weights for each architecture, and the story model. */
export function shownModels(): ShownModel[] {
  const story: ShownModel = {
    name: 'stories',
    decoder: (type) => storyDecoder(() => type),
    tokenizer: withoutCutCharacters(storyTokenizer()),
  };
  const random = CONFIGS.map(([sizes, tokenizer], i) => randomModel(sizes, tokenizer, i + 1));
  return [story, ...random];
}

/** A decoder of random weights with the tokens of a vocabulary. */
export function randomModel(
  sizes: Omit<TestedConfig, 'vocab_size'>,
  tokenizer: TokenizerMetadata,
  seed: number,
): ShownModel {
  const { length } = tokenizer['tokenizer.ggml.tokens'] as readonly string[];
  const config = { ...sizes, vocab_size: length };
  const mute = cutCharacters(tokenizer, length);
  return {
    name: config.model_type.replace('_text', ''),
    decoder: (type) => decoderOf(config, weightsOf(config, mute, seed), () => type),
    tokenizer,
  };
}

/** Tokens that are no whole characters: wllama fails to write down answers that have them among the likeliest ones. */
function cutCharacters(metadata: TokenizerMetadata, size: number): number[] {
  const head = readGguf(writeGguf({ metadata })) as GgufHead;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const isCut = (bytes: Uint8Array | undefined): boolean => {
    try {
      decoder.decode(bytes);
      return false;
    } catch {
      return true;
    }
  };
  const bytes = tokenBytes(ggufTokenizer(head.metadata).tokenizer, size);
  return bytes.flatMap((of, id) => (isCut(of) ? [id] : []));
}

/**
 * The same tokenizer with other names for such tokens, for a model whose weights are given: behind the end of a story they are among
 * the likeliest ones. No text that anybody reads to it has them.
 */
function withoutCutCharacters(metadata: TokenizerMetadata): TokenizerMetadata {
  const tokens = metadata['tokenizer.ggml.tokens'] as readonly string[];
  const cut = new Set(cutCharacters(metadata, tokens.length));
  const named = tokens.map((token, id) => (cut.has(id) ? `<cut${id}>` : token));
  return { ...metadata, 'tokenizer.ggml.tokens': named };
}

/** How much of the embedding of each token is in the head of the one behind it. */
const HABIT = 0.075;

/**
 * Random weights with which texts do not run into circles, and as sure of most tokens as trained ones are: logits of 900 random
 * directions alone are so dense that rounding would often decide. So heads hold a little of the embedding of the token before. Where
 * the embedding is the head, a token's own embedding is what is left of it, and small beside what the layers add. Logits of
 * muted tokens are 0, which is less than those of the likeliest.
 */
function weightsOf(
  { model_type: type, tie_word_embeddings: isTied, hidden_size: width }: TestedConfig,
  mute: readonly number[],
  seed: number,
) {
  const random = seededRandom(seed);
  const isGemma = type.startsWith('gemma');
  let embedding = new Float32Array();
  return (name: string, [rows = 1, columns]: readonly number[]): Float32Array => {
    const isNorm = columns === undefined && name.endsWith('.weight');
    const size = name.includes('embed') ? (isGemma ? 0.08 : 1) : Math.sqrt(3 / (columns ?? 12));
    // Those of gemma are added to 1.
    const middle = !isNorm ? 0 : !isGemma ? 1 : /post_|model\.norm/.test(name) ? 8 : 0;
    const values = Float32Array.from(
      { length: rows * (columns ?? 1) },
      () => middle + (random() * 2 - 1) * size,
    );
    if (name.includes('embed')) embedding = values;
    if (name === 'lm_head.weight') {
      for (let i = width; i < values.length; i++)
        values[i] = (values[i] ?? 0) + HABIT * (embedding[i - width] ?? 0);
    }
    if (name === (isTied ? 'model.embed_tokens.weight' : 'lm_head.weight')) {
      for (const id of mute) values.fill(0, id * width, (id + 1) * width);
    }
    return values;
  };
}

/** Prompts that the model has room for: stories' begins, or mixed strings. */
export function promptsOf({ name }: ShownModel, count: number): string[] {
  if (name !== 'stories')
    return mixedStrings(4 * count, { seed: 12 })
      .filter((text) => text.trim() !== '')
      .slice(0, count);
  const names = ['Mia', 'Tom', 'Anna', 'Ben', 'Lily'];
  const ends = ['went to the park.', 'has a ball.', 'put the cup in the box.', 'saw'];
  return Array.from({ length: count }, (_, i) => `${names[i % 5]} ${ends[Math.floor(i / 5) % 4]}`);
}

/** The bytes of a model's GGUF file. */
export function ggufBytes({ tokenizer }: ShownModel, decoder: TestedDecoder): Uint8Array {
  return ggufOf(decoder, {}, [], tokenizer);
}

/** The same decoder with the elements that its blocks stand for, in float32. */
export function dequantized({ config, tensors, weights }: TestedDecoder): TestedDecoder {
  return {
    config,
    weights,
    tensors: tensors.map((tensor) => {
      return { ...tensor, type: 'F32', bytes: encodeElements('F32', tensor.values) };
    }),
  };
}
