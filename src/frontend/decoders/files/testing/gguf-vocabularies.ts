import { TOKEN_TYPES } from '../tokenizer/gguf-vocabulary.ts';
import type { WrittenValue } from './gguf-writer.ts';
import { mixedStrings } from './mixed-strings.ts';

/** `tokenizer.*` of a GGUF file. */
export type TokenizerMetadata = Readonly<Record<string, WrittenValue>>;

/** A token that texts are cut at. */
interface Mark {
  readonly text: string;
  readonly type: number;
}

const control = (...texts: string[]): Mark[] =>
  texts.map((text) => ({ text, type: TOKEN_TYPES.control }));
const userDefined = (...texts: string[]): Mark[] =>
  texts.map((text) => ({ text, type: TOKEN_TYPES.userDefined }));

const [BYTE, UNUSED] = [6, 5];

/**
 * Texts to learn a vocabulary from. They are not cut into words, so tokens reach across every place
 * where a tokenizer may cut.
 */
const sample = (): string[] => mixedStrings(700, { seed: 77 });

/**
 * The pairs that are joined, learnt from texts of symbols: again and again the commonest ones (Sennrich et al. 2016), several at a
 * time. Tokens are what they make, in order and each once.
 */
function learnPairs(
  texts: readonly (readonly string[])[],
  count: number,
): (readonly [string, string])[] {
  let rows = texts;
  const pairs: (readonly [string, string])[] = [];
  const made = new Set<string>();
  while (made.size < count) {
    const counts = new Map<string, { pair: readonly [string, string]; count: number }>();
    for (const row of rows) {
      for (let i = 1; i < row.length; i++) {
        const pair = [row[i - 1] ?? '', row[i] ?? ''] as const;
        const key = pair.join('\u0000');
        const entry = counts.get(key) ?? { pair, count: 0 };
        entry.count++;
        counts.set(key, entry);
      }
    }
    const best = [...counts.values()]
      .filter((entry) => entry.count > 1 && !made.has(entry.pair.join('')))
      .toSorted((a, b) => b.count - a.count)
      .slice(0, Math.min(24, count - made.size));
    if (best.length === 0) break;
    for (const { pair } of best) {
      if (made.has(pair.join(''))) continue;
      pairs.push(pair);
      made.add(pair.join(''));
      rows = rows.map((row) => joined(row, pair));
    }
  }
  return pairs;
}

function joined(row: readonly string[], [left, right]: readonly [string, string]): string[] {
  const out: string[] = [];
  for (const part of row) {
    if (part === right && out.at(-1) === left) out[out.length - 1] = left + right;
    else out.push(part);
  }
  return out;
}

interface Vocabulary {
  readonly tokens: readonly string[];
  readonly types: readonly number[];
  readonly scores?: readonly number[];
  readonly merges?: readonly string[];
}

function metadataOf(
  model: string,
  { tokens, types, scores, merges }: Vocabulary,
): TokenizerMetadata {
  return {
    'tokenizer.ggml.model': model,
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.token_type': Int32Array.from(types),
    ...(scores && { 'tokenizer.ggml.scores': Float32Array.from(scores) }),
    ...(merges && { 'tokenizer.ggml.merges': merges }),
  };
}

/** Pieces with scores as SentencePiece has them: marks, bytes, learnt pieces, then single characters. */
function sentencePiece(marks: readonly Mark[], size: number): TokenizerMetadata {
  const bytes = Array.from({ length: 256 }, (_, byte) => {
    return { text: `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, type: BYTE };
  });
  const texts = sample().map((text) => Array.from(text.replaceAll(' ', '▁')));
  const characters = [...new Set(texts.flat())].slice(0, 300);
  const fixed = [...marks, ...bytes];
  const known = new Set([...fixed.map(({ text }) => text), ...characters]);
  const count = size - fixed.length - characters.length;
  const pieces = learnPairs(texts, count).map((pair) => pair.join(''));
  const learnt = [...new Set(pieces)].filter((piece) => !known.has(piece));
  const normal = [
    ...learnt,
    ...characters.filter((text) => !marks.some((mark) => mark.text === text)),
  ];
  return metadataOf('llama', {
    tokens: [...fixed.map(({ text }) => text), ...normal],
    types: [...fixed.map(({ type }) => type), ...normal.map(() => TOKEN_TYPES.normal)],
    scores: [
      ...marks.map(({ type }) => (type === TOKEN_TYPES.userDefined ? -1000 : 0)),
      ...bytes.map(() => 0),
      ...normal.map((_, i) => -i),
    ],
  });
}

const letters = byteLetters();

/** The characters of byte-level models: visible bytes of Latin-1 for themselves, others from U+0100 on. */
function byteLetters(): string[] {
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => {
    const isVisible = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    return String.fromCodePoint(isVisible ? byte : next++);
  });
}

function byteLevel(pre: string, marks: readonly Mark[], size: number): TokenizerMetadata {
  const encoder = new TextEncoder();
  const texts = sample().map((text) =>
    Array.from(encoder.encode(text), (byte) => letters[byte] ?? ''),
  );
  const pairs = learnPairs(texts, size - 256 - marks.length);
  const normal = [...letters, ...new Set(pairs.map((pair) => pair.join('')))];
  return {
    ...metadataOf('gpt2', {
      tokens: [...normal, ...marks.map(({ text }) => text)],
      types: [...normal.map(() => TOKEN_TYPES.normal), ...marks.map(({ type }) => type)],
      merges: pairs.map((pair) => pair.join(' ')),
    }),
    'tokenizer.ggml.pre': pre,
  };
}

const UNKNOWN: Mark = { text: '<unk>', type: TOKEN_TYPES.unknown };

/** A vocabulary as in files of llama 2. */
export function llamaVocabulary(size: number): TokenizerMetadata {
  return {
    ...sentencePiece([UNKNOWN, ...control('<s>', '</s>')], size),
    'tokenizer.ggml.bos_token_id': 1,
    'tokenizer.ggml.eos_token_id': 2,
    'tokenizer.ggml.unknown_token_id': 0,
    'tokenizer.ggml.add_bos_token': true,
    'tokenizer.ggml.add_eos_token': false,
  };
}

/**
 * A vocabulary as in files of gemma: no blank before a text, and runs of line breaks and blanks as
 * tokens that users added.
 */
export function gemmaVocabulary(size: number): TokenizerMetadata {
  const marks = [
    ...control('<pad>', '<eos>', '<bos>'),
    UNKNOWN,
    ...userDefined('\n', '\n\n', '\n\n\n', '▁▁', '▁▁▁', '▁▁▁▁', '<table>', '[@BOS@]'),
    { text: '<unused0>', type: UNUSED },
    ...control('<start_of_turn>', '<end_of_turn>'),
  ];
  return {
    ...sentencePiece(marks, size),
    'tokenizer.ggml.bos_token_id': 2,
    'tokenizer.ggml.eos_token_id': 1,
    'tokenizer.ggml.unknown_token_id': 3,
    'tokenizer.ggml.padding_token_id': 0,
    'tokenizer.ggml.add_bos_token': true,
    'tokenizer.ggml.add_eos_token': false,
    'tokenizer.ggml.add_space_prefix': false,
  };
}

/** A vocabulary as in files of phi 3, whose tokens take the blanks behind them. */
export function phiVocabulary(size: number): TokenizerMetadata {
  const marks = [
    UNKNOWN,
    ...control(
      '<s>',
      '</s>',
      '<|endoftext|>',
      '<|assistant|>',
      '<|system|>',
      '<|end|>',
      '<|user|>',
    ),
  ];
  return {
    ...sentencePiece(marks, size),
    'general.name': 'Phi-3 of tests',
    'tokenizer.ggml.bos_token_id': 1,
    'tokenizer.ggml.eos_token_id': 3,
    'tokenizer.ggml.unknown_token_id': 0,
    'tokenizer.ggml.padding_token_id': 3,
    'tokenizer.ggml.add_bos_token': false,
  };
}

/** Byte-level tokens behind one of the pre-tokenizers. */
export function byteLevelVocabulary(pre: string, size: number): TokenizerMetadata {
  const marks = [
    ...control('<|endoftext|>', '<|im_start|>', '<|im_end|>', '<|begin_of_text|>', '<|fim_pad|>'),
    ...userDefined('<tool_call>', '</tool_call>', '<think>'),
  ];
  const vocabulary = byteLevel(pre, marks, size);
  const { length } = vocabulary['tokenizer.ggml.tokens'] as readonly string[];
  const first = length - marks.length;
  return {
    ...vocabulary,
    'tokenizer.ggml.bos_token_id': first + 3,
    'tokenizer.ggml.eos_token_id': first + 2,
    'tokenizer.ggml.padding_token_id': first,
  };
}

/** All tokens that texts are cut at, by their text. */
export function marksOf(metadata: TokenizerMetadata): string[] {
  const types = metadata['tokenizer.ggml.token_type'] as Int32Array;
  const tokens = metadata['tokenizer.ggml.tokens'] as readonly string[];
  return tokens.filter((_, id) => [2, 3, 4].includes(types[id] ?? 0));
}
