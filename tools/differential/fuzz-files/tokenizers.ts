import { Tokenizer } from '@huggingface/tokenizers';
import {
  byteLevelVocabulary,
  gemmaVocabulary,
  llamaVocabulary,
  type TokenizerMetadata,
} from '../../../src/frontend/decoders/files/testing/gguf-vocabularies.ts';
import { type GgufHead, readGguf } from '../../../src/frontend/decoders/files/gguf.ts';
import { writeGguf } from '../../../src/frontend/decoders/files/testing/gguf-writer.ts';
import { ggufTokenizer } from '../../../src/frontend/decoders/files/tokenizer/gguf-tokenizer.ts';
import {
  preTokenizer,
  preTokenizerNames,
} from '../../../src/frontend/decoders/files/tokenizer/pre-tokenizers.ts';
import { vocabularyData } from '../../../src/frontend/decoders/reader/vocabulary-data.ts';
import { StreamDecoder } from '../../../src/frontend/decoders/reader/stream-decoder.ts';
import {
  openTokenizer,
  type SyncTokenizer,
  tokenBytes,
} from '../../../src/frontend/decoders/reader/text-reader.ts';
import { Chance } from './chance.ts';
import type { FuzzTarget } from './fuzz-target.ts';
import { fromBytes, type Json, JsonMutator, toBytes } from './json-values.ts';

const SIZE = 90;
const TEXTS = [
  "Hello world, it's 1234 o'clock!\n\n  x = [1, 2];",
  'straße 日本語 <s> é\u0301 😀▁ a__proto__',
  'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  '',
];
/** Patterns that go back, double and end nowhere. */
const PATTERNS = [
  '(a+)+x',
  '(a|a)*b',
  '.*.*.*x',
  '',
  '$',
  '\\b',
  '(?=a)',
  '\\p{L}{2,300}?',
  '[^',
  '(?i:ab)',
  '\\1',
  '(?<=a)b',
];
const KEYS = [
  'type',
  'pattern',
  'Regex',
  'String',
  'content',
  'behavior',
  'invert',
  'prepend',
  'length',
  'str_rep',
  'replacement',
  'prepend_scheme',
  'suffix',
  'cleanup',
  'byte_fallback',
  'fuse_unk',
  'unk_id',
  'unk_token',
  'max_input_chars_per_word',
  'end_of_word_suffix',
  'normalized',
  'lstrip',
  'rstrip',
  'remove_space',
  'additional_special_tokens',
  'rank_sizes',
  'ignore_merges',
  '__proto__',
];

/** The parts of other models than those that GGUF files have. */
const PARTS: readonly Json[] = [
  ...['NFC', 'NFKD', 'Lowercase', 'StripAccents', 'BertNormalizer', 'Precompiled'].map((type) => ({
    type,
  })),
  ...['BertPreTokenizer', 'Whitespace', 'WhitespaceSplit', 'Digits', 'Punctuation'].map((type) => ({
    type,
  })),
  ...['Fuse', 'ByteFallback', 'WordPiece', 'CTC', 'ByteLevel', 'Metaspace'].map((type) => ({
    type,
  })),
  { type: 'Prepend', prepend: '▁' },
  { type: 'Strip', strip_left: true, strip_right: true, content: ' ', start: 1, stop: 1 },
  { type: 'FixedLength', length: 3 },
  { type: 'BPEDecoder', suffix: '</w>' },
  { type: 'Replace', pattern: { String: 'a' }, content: 'aa' },
  { type: 'Replace', pattern: { Regex: '\\s+' }, content: ' ' },
  { type: 'Split', pattern: { Regex: '\\d' }, behavior: 'Removed', invert: false },
  { type: 'Metaspace', replacement: '▁', str_rep: '▁', prepend_scheme: 'first' },
  { type: 'BertProcessing', sep: ['</s>', 1], cls: ['<s>', 0] },
  ...[
    ...PATTERNS,
    ...preTokenizerNames().flatMap((name) => preTokenizer(name)?.patterns ?? []),
  ].map((pattern) => ({
    type: 'Split',
    pattern: { Regex: pattern },
    behavior: 'Isolated',
    invert: false,
  })),
];

/** `tokenizer.json` and `tokenizer_config.json` of each kind, with changes in their parts. */
export function tokenizers(): FuzzTarget {
  const files = corpus();
  const mutator = new JsonMutator([...files, ...PARTS], KEYS);
  return {
    input: async (seed) => {
      const chance = new Chance(seed);
      return toBytes(mutator.mutate(chance.pick(files), chance, 5));
    },
    run: async (bytes) => {
      const file = fromBytes(bytes);
      const { tokenizer = {}, config = {} } = Object(file) as {
        tokenizer?: object;
        config?: object;
      };
      await runTokenizer({ tokenizer, config });
    },
  };
}

interface Files {
  readonly tokenizer: object;
  readonly config: object;
}

/** Reads and writes texts, as whole ones and as they come, and makes a vocabulary for grammars. */
export async function runTokenizer({ tokenizer, config }: Files): Promise<void> {
  const own = await openTokenizer({ tokenizer, config });
  const texts = TEXTS.filter((text) => text !== '');
  const encoded = texts.map((text) => own.encode(text));
  for (const ids of encoded) {
    if (!ids.every((id) => Number.isSafeInteger(id) && id >= 0))
      throw new Error(`ids ${ids.join()}`);
    if (typeof own.decode(ids) !== 'string') throw new Error('no text');
    decodeAsTheyCome(own, ids.slice(0, 20));
  }
  own.decode([0, 1, 5, SIZE, 3 * SIZE]);
  requireSame({ tokenizer, config }, encoded);
  vocabularyData(tokenBytes(tokenizer as Readonly<Record<string, unknown>>, 2 * SIZE));
}

function decodeAsTheyCome(own: SyncTokenizer, ids: readonly number[]): void {
  const decoder = new StreamDecoder((some) => own.decode(some), { before: [], waiting: [] });
  for (const id of ids) decoder.push(id);
  decoder.end();
}

/** What ends within its steps has to give what the package gives. */
function requireSame({ tokenizer, config }: Files, encoded: readonly (readonly number[])[]): void {
  // There texts are cut by what groups hold, and pairs have ranks of their own.
  if (/"removed"|"rank_sizes"/i.test(JSON.stringify(tokenizer))) return;
  // V8 takes the middle of a surrogate pair for an end, where only what is no character may follow.
  const hasEnds = /"Regex":"[^"]*(?:\$|\(\?!)/.test(JSON.stringify(tokenizer));
  const package_ = new Tokenizer(tokenizer, config);
  for (const [i, text] of TEXTS.filter((text) => text !== '').entries()) {
    if (hasEnds && /[^\0-\uffff]/u.test(text)) continue;
    const { ids } = package_.encode(text);
    if (String(ids) !== String(encoded[i]))
      throw new Error(`got ${String(encoded[i])}, the package ${String(ids)}`);
  }
}

function corpus(): Json[] {
  const made = [
    llamaVocabulary(SIZE),
    gemmaVocabulary(SIZE),
    byteLevelVocabulary('llama-bpe', SIZE),
    byteLevelVocabulary('qwen2', SIZE),
  ].map(fromGguf);
  const letters = Array.from("abcdefghijklmnopqrstuvwxyz0123456789,.!'");
  const special = ['[UNK]', '[CLS]', '[SEP]'];
  const added = special.map((content, id) => ({ id, content, special: true }));
  const wordPiece: Json = {
    added_tokens: added,
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [
        { SpecialToken: { id: '[CLS]', type_id: 0 } },
        { Sequence: { id: 'A', type_id: 0 } },
        { SpecialToken: { id: '[SEP]', type_id: 0 } },
      ],
      pair: [],
      special_tokens: {},
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(
        [...special, ...letters, ...letters.map((one) => `##${one}`)].map((token, id) => [
          token,
          id,
        ]),
      ),
    },
  };
  const unigram: Json = {
    added_tokens: [{ id: 1, content: '</s>', special: true }],
    normalizer: {
      type: 'Sequence',
      normalizers: [
        { type: 'Precompiled' },
        { type: 'Replace', pattern: { Regex: ' {2,}' }, content: ' ' },
      ],
    },
    pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always' },
    post_processor: null,
    decoder: { type: 'Metaspace', replacement: '▁' },
    model: {
      type: 'Unigram',
      unk_id: 0,
      vocab: ['<unk>', '</s>', '▁', '▁a', 'aa', 'aaaa', ...letters].map(
        (token, i): Json => [token, -i],
      ),
    },
  };
  return [
    ...made,
    { tokenizer: wordPiece, config: {} },
    { tokenizer: unigram, config: { eos_token: '</s>' } },
  ];
}

/** Vocabularies of different sizes have different tokens. */
function fromGguf(metadata: TokenizerMetadata): Json {
  const { tokenizer, tokenizerConfig } = ggufTokenizer(
    (readGguf(writeGguf({ metadata })) as GgufHead).metadata,
  );
  return JSON.parse(JSON.stringify({ tokenizer, config: tokenizerConfig })) as Json;
}
