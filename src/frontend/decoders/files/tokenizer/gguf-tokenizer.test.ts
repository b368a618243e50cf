import { Tokenizer } from '@huggingface/tokenizers';
import { describe, expect, test } from 'vitest';
import { FormatError, UnsupportedError } from '../../../../core/errors.ts';
import { seededRandom } from '../../../../core/random.ts';
import { openTokenizer, type SyncTokenizer } from '../../reader/text-reader.ts';
import { type GgufHead, readGguf } from '../gguf.ts';
import type { GgufMetadata } from '../gguf-metadata.ts';
import {
  byteLevelVocabulary,
  gemmaVocabulary,
  llamaVocabulary,
  phiVocabulary,
  type TokenizerMetadata,
} from '../testing/gguf-vocabularies.ts';
import { writeGguf } from '../testing/gguf-writer.ts';
import { mixedStrings } from '../testing/mixed-strings.ts';
import { plainPieces } from '../testing/plain-sentence-piece.ts';
import { ggufTokenizer, hasGgufTokenizer } from './gguf-tokenizer.ts';

const read = (metadata: TokenizerMetadata): GgufMetadata =>
  (readGguf(writeGguf({ metadata })) as GgufHead).metadata;

function open(metadata: TokenizerMetadata): Promise<SyncTokenizer> {
  const { tokenizer, tokenizerConfig } = ggufTokenizer(read(metadata));
  return openTokenizer({ tokenizer, config: tokenizerConfig });
}

const tokensOf = (metadata: TokenizerMetadata): readonly string[] =>
  metadata['tokenizer.ggml.tokens'] as readonly string[];

const LLAMA = llamaVocabulary(900);
const GEMMA = gemmaVocabulary(900);
const PHI = phiVocabulary(800);
const PLAIN = { addSpecialTokens: false };

describe('SentencePiece', () => {
  test.each([
    ['with a blank before texts', LLAMA, true],
    ['without', GEMMA, false],
  ])('joins by scores, %s', async (_, metadata, hasPrefix) => {
    const tokenizer = await open(metadata);
    const tokens = tokensOf(metadata);
    const scores = metadata['tokenizer.ggml.scores'] as Float32Array;
    // Line breaks are tokens of users in one of them, which cut the text.
    const strings = mixedStrings(150, { seed: 3 }).filter((text) => !/[\n▁]|<0x|<s/.test(text));
    expect(strings.length).toBeGreaterThan(90);
    for (const text of strings) {
      const expected = plainPieces(text, { tokens, scores, hasPrefix });
      expect(tokenizer.encode(text, PLAIN), text).toEqual(expected);
    }
  });

  test('of tokens with equal scores the leftmost comes first', async () => {
    const random = seededRandom(8);
    const letters = ['a', 'b'];
    const word = (): string =>
      Array.from(
        { length: 2 + Math.floor(random() * 4) },
        () => letters[Math.floor(random() * 2)],
      ).join('');
    for (let round = 0; round < 30; round++) {
      const tokens = [...new Set(['<unk>', ...letters, ...Array.from({ length: 14 }, word)])];
      const scores = Float32Array.from(tokens, () => -Math.floor(random() * 3));
      const tokenizer = await open({
        'tokenizer.ggml.model': 'llama',
        'tokenizer.ggml.tokens': tokens,
        'tokenizer.ggml.scores': scores,
        'tokenizer.ggml.add_space_prefix': false,
        'tokenizer.ggml.add_bos_token': false,
      });
      for (let i = 0; i < 10; i++) {
        const text = Array.from({ length: 12 }, () => letters[Math.floor(random() * 2)]).join('');
        const expected = plainPieces(text, { tokens, scores, hasPrefix: false });
        expect(tokenizer.encode(text), `${text} of ${tokens.join(' ')}`).toEqual(expected);
      }
    }
  });

  test('what is no token is spelt in bytes and read again', async () => {
    const tokenizer = await open(LLAMA);
    const text = 'a 𒀀 \u0007 end';
    const ids = tokenizer.encode(text, PLAIN);
    expect(ids.map((id) => tokensOf(LLAMA)[id]).join(' ')).toContain('<0xF0> <0x92> <0x80> <0x80>');
    expect(tokenizer.decode(ids)).toBe(text);
  });

  test('a text begins with the token for that, and special tokens cut it', async () => {
    const tokenizer = await open(LLAMA);
    const names = tokenizer.encode('</s> x').map((id) => tokensOf(LLAMA)[id]);
    expect(names.slice(0, 2)).toEqual(['<s>', '</s>']);
    // A blank comes before each part between special tokens.
    expect(names.slice(2).join('')).toBe('▁▁x');
    expect(tokenizer.decode(tokenizer.encode('one</s> two'))).toBe('one  two');
  });

  test("phi 3's tokens take the blanks behind them", async () => {
    const tokenizer = await open(PHI);
    const names = tokenizer.encode('<|user|> \n x<|end|>\n').map((id) => tokensOf(PHI)[id]);
    expect(names).toEqual(['<|user|>', '▁', 'x', '<|end|>']);
    const kept = tokenizer.encode('<|endoftext|> x').map((id) => tokensOf(PHI)[id]);
    expect(kept.join('')).toBe('<|endoftext|>▁▁x');
  });
});

describe('byte-level models', () => {
  const TEXT = "I'M 12345 don't\n\n  (x)\nHTTPServer ÄRGER";

  test.each([
    ['gpt-2', "I|'|M| 12345| don|'t|\n\n | (|x|)|\n|HTTPServer| ÄRGER"],
    ['llama-bpe', "I|'M| |123|45| don|'t|\n\n| | (|x|)\n|HTTPServer| ÄRGER"],
    ['qwen2', "I|'M| |1|2|3|4|5| don|'t|\n\n| | (|x|)\n|HTTPServer| ÄRGER"],
    ['smollm', "I|'|M| |1|2|3|4|5| don|'t|\n\n | (|x|)|\n|HTTPServer| ÄRGER"],
    ['tekken', "I|'M| |1|2|3|4|5| don|'t|\n\n| | (|x|)\n|HTTPServer| ÄRGER"],
    ['gpt-4o', "I'M| |123|45| don't|\n\n| | (|x|)\n|HTTPServer| ÄRGER"],
    ['default', "I|'|M| |123|45| don|'|t|\n\n  |(|x|)|\n|HTTPServer| ÄRGER"],
  ])('%s cuts as the models that have it', (pre, expected) => {
    const { tokenizer } = ggufTokenizer(read(byteLevelVocabulary(pre, 300)));
    const { pre_tokenizer: cut, decoder } = new Tokenizer(tokenizer, {});
    const pieces = cut?.(TEXT, {}).map((piece) => decoder?.([piece]));
    expect(pieces?.join('|')).toBe(expected);
  });

  test('any text comes back', async () => {
    const tokenizer = await open(byteLevelVocabulary('qwen2', 600));
    for (const text of mixedStrings(200, { seed: 9 })) {
      expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
    }
  });

  test('a word that is a token is that token, where the model wants it', async () => {
    const metadata = {
      'tokenizer.ggml.model': 'gpt2',
      'tokenizer.ggml.tokens': ['a', 'b', 'c', 'ab', 'abc'],
      'tokenizer.ggml.merges': ['a b'],
      'tokenizer.ggml.add_bos_token': false,
    };
    const encode = async (pre: string) =>
      (await open({ ...metadata, 'tokenizer.ggml.pre': pre })).encode('abc');
    expect(await encode('qwen2')).toEqual([3, 2]);
    expect(await encode('llama-bpe')).toEqual([4]);
  });
});

test('the tokens that begin and end texts', () => {
  const { tokenizerConfig, generationConfig } = ggufTokenizer(
    read({
      ...byteLevelVocabulary('qwen2', 300),
      'tokenizer.ggml.add_eos_token': true,
      'general.sampling.temp': 0.5,
      'general.sampling.top_k': 20,
    }),
  );
  expect(tokenizerConfig).toEqual({
    bos_token: '<|begin_of_text|>',
    eos_token: '<|im_end|>',
    pad_token: '<|endoftext|>',
    add_bos_token: false,
    add_eos_token: true,
    clean_up_tokenization_spaces: false,
  });
  const tokens = tokensOf(byteLevelVocabulary('qwen2', 300));
  const { eos_token_id: ends, ...rest } = generationConfig;
  expect((ends as number[]).map((id) => tokens[id])).toEqual([
    '<|endoftext|>',
    '<|im_end|>',
    '<|fim_pad|>',
  ]);
  expect(rest).toEqual({
    bos_token_id: tokens.indexOf('<|begin_of_text|>'),
    pad_token_id: tokens.indexOf('<|endoftext|>'),
    temperature: 0.5,
    top_k: 20,
  });
});

test('chat templates, one or several', () => {
  const template = (more: TokenizerMetadata): unknown =>
    ggufTokenizer(read({ ...PHI, ...more })).tokenizerConfig['chat_template'];
  const key = 'tokenizer.chat_template';
  expect(template({})).toBeUndefined();
  expect(template({ [key]: 'A' })).toBe('A');
  const named = { 'tokenizer.chat_templates': ['tool_use'], [`${key}.tool_use`]: 'B' };
  expect(template({ ...named, [key]: 'A' })).toEqual([
    { name: 'default', template: 'A' },
    { name: 'tool_use', template: 'B' },
  ]);
});

describe('refuses by name', () => {
  const refused = (metadata: TokenizerMetadata, kind: new (...args: never[]) => Error): string => {
    try {
      ggufTokenizer(read(metadata));
    } catch (error) {
      expect(error).toBeInstanceOf(kind);
      return (error as Error).message;
    }
    throw new Error('nothing was thrown');
  };
  const remedy =
    "Put the model's own tokenizer.json, tokenizer_config.json and config.json beside the executable.";

  test('other tokenizers and pre-tokenizers', () => {
    expect(refused({ 'tokenizer.ggml.model': 'bert' }, UnsupportedError)).toBe(
      `GGUF file, tokenizer.ggml.model: got bert, expected one of gpt2, llama. ${remedy}`,
    );
    const pre = refused(byteLevelVocabulary('kimi-k2', 300), UnsupportedError);
    expect(pre).toMatch(
      /^GGUF file, tokenizer\.ggml\.pre: got kimi-k2, expected one of a\.x-4\.0, /,
    );
    expect(pre).toContain(', qwen2, ');
    expect(pre).toContain(remedy);
  });

  test('vocabularies that contradict themselves', () => {
    expect(refused({ 'tokenizer.ggml.model': 'llama' }, FormatError)).toBe(
      'GGUF file, tokenizer.ggml.tokens: got no token, expected the tokens of the vocabulary.',
    );
    const tokens = { 'tokenizer.ggml.model': 'llama', 'tokenizer.ggml.tokens': ['x', 'y', 'x'] };
    expect(refused(tokens, FormatError)).toBe(
      'GGUF file, tokenizer.ggml.tokens: got "x" as token 0 and as token 2, expected each token once. ' +
        'Convert the model again with a current llama.cpp.',
    );
    expect(
      refused({ ...PHI, 'tokenizer.ggml.scores': Float32Array.of(1, 2) }, FormatError),
    ).toMatch(
      /^GGUF file, tokenizer\.ggml\.scores: got 2 elements, expected one for each of the \d+ tokens\.$/,
    );
    expect(refused({ ...PHI, 'tokenizer.ggml.eos_token_id': 99_999 }, FormatError)).toMatch(
      /^GGUF file, tokenizer\.ggml\.eos_token_id: got 99999, expected the id of a token, 0 to \d+\.$/,
    );
  });
});

test('says whether there is a tokenizer', () => {
  expect(hasGgufTokenizer(read(PHI))).toBe(true);
  expect(hasGgufTokenizer(read({}))).toBe(false);
  expect(hasGgufTokenizer(read({ 'tokenizer.ggml.model': 'no_vocab' }))).toBe(false);
});

test('tokens that are made of others in very many ways are refused', () => {
  const tokens = Array.from({ length: 1000 }, (_, i) => 'a'.repeat(i + 1));
  const metadata = { ...LLAMA, 'tokenizer.ggml.tokens': tokens };
  const more = {
    'tokenizer.ggml.scores': new Float32Array(tokens.length),
    'tokenizer.ggml.token_type': new Int32Array(tokens.length).fill(1),
  };
  expect(() => ggufTokenizer(read({ ...metadata, ...more }))).toThrow(
    'tokenizer.ggml.tokens: got tokens of up to 466 letters that are made of others in very many ways, expected ways of at most 268435456 letters together.',
  );
});
