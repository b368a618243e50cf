import { BPE, SequenceNormalizer, Tokenizer } from '@huggingface/tokenizers';
import { describe } from '../../../core/check-options.ts';
import { FormatError, WeftError } from '../../../core/errors.ts';
import { countWork, withMeter } from '../../../core/limits/work-meter.ts';
import { isRecord, type JsonRecord } from '../files/json-record.ts';
import { MeteredRegExp } from './metered-regexp.ts';
import { packageWords } from './package-words.ts';

/** The parsed files that a tokenizer is made from: `tokenizer.json` and `tokenizer_config.json`. */
export interface TokenizerFiles {
  readonly tokenizer: object;
  readonly config: object;
}

const DECODING = { skip_special_tokens: true, clean_up_tokenization_spaces: false };

/** Work of one call: some, and more for each letter or token. Real tokenizers take a tenth of the latter. */
const CALL_WORK = 2 ** 28;
const ITEM_WORK = 4096;

/** Normalizers, pre-tokenizers, decoders and post-processors of a file. */
const MAX_PART_COUNT = 100;
/** Of these, those that spell bytes: each after the first doubles what is not ASCII. Real files have three. */
const MAX_BYTE_LEVEL_COUNT = 8;
/** Letters that are put before texts, behind words and for blanks. */
const MAX_AFFIX_LENGTH = 64;
/** WordPiece takes longer words for unknown, unless the file says otherwise. */
const USUAL_WORD_LENGTH = 102;
/** Letters of all patterns. */
const MAX_PATTERN_LENGTH = 20_000;
/** Letters of added tokens, and of the vocabulary of a Unigram model: each becomes an object. */
const MAX_ADDED_LENGTH = 2 ** 20;
const MAX_UNIGRAM_LENGTH = 2 ** 22;

/**
 * The tokenizer of @huggingface/tokenizers, each call of which ends after a number of steps by the length of its text. Files are
 * checked when they are read. Everything here throws FormatError for a damaged one.
 */
export class BoundedTokenizer {
  readonly #own: Tokenizer;
  readonly #longest: number;
  readonly #addedCount: number;

  constructor({ tokenizer, config }: TokenizerFiles) {
    const file = tokenizer as JsonRecord;
    const added = bounded(0, () => requireBounded(file, config as JsonRecord));
    this.#addedCount = added.length;
    this.#longest = added.reduce((most, { length }) => Math.max(most, length), 0);
    this.#own = bounded(this.#longest, () => {
      // The package normalizes added tokens before its patterns can be counted; the same is done here first.
      const { normalizer } = file;
      if (isRecord(normalizer)) {
        const own = new SequenceNormalizer({
          type: 'Sequence',
          normalizers: [normalizer as never],
        });
        countPatterns(own);
        for (const content of added) own.normalize(content);
      }
      const made = new Tokenizer(tokenizer, config);
      for (const part of [made.normalizer, made.pre_tokenizer, made.decoder]) countPatterns(part);
      const { model } = made;
      if (model !== null) model.tokens_to_ids = new CountedMap(model.tokens_to_ids);
      const sizes = rankSizes(file);
      if (sizes !== undefined && model instanceof BPE) shareRanks(model.bpe_ranks, sizes);
      return made;
    });
  }

  encode(text: string, addSpecialTokens: boolean): number[] {
    return bounded(text.length, () => {
      // At each letter added tokens are looked for.
      countWork(text.length * Math.min(text.length, this.#longest));
      const { ids } = this.#own.encode(text, { add_special_tokens: addSpecialTokens });
      if (!ids.every(isId)) throw new Error(`a token without an id in ${describe(text)}`);
      return ids;
    });
  }

  decode(ids: readonly number[]): string {
    return bounded(ids.length, () => {
      countWork(ids.length * this.#addedCount);
      return this.#own.decode([...ids], DECODING);
    });
  }

  idOf(token: string): number | undefined {
    return this.#own.token_to_id(token);
  }
}

/** What the package makes of the file, which may be damaged, in so many steps as texts of a length may take. */
function bounded<T>(length: number, work: () => T): T {
  let left = CALL_WORK + ITEM_WORK * length;
  const count = (steps: number): void => {
    left -= steps;
    const got = `patterns or tokens that go on and on with ${length} letters`;
    if (left < 0) throw refused(got, 'a tokenizer that ends');
  };
  try {
    return withMeter({ count, reserve: () => undefined }, work);
  } catch (cause) {
    if (cause instanceof WeftError) throw cause;
    const got = packageWords(cause);
    throw refused(got, 'a tokenizer that @huggingface/tokenizers reads', cause);
  }
}

const REMEDY = 'Take the file of the model that this one was made from.';

const refused = (got: string, expected: string, cause?: unknown): FormatError =>
  new FormatError({ where: 'tokenizer.json', got, expected, remedy: REMEDY }, { cause });

const isId = (id: unknown): boolean => Number.isSafeInteger(id) && Number(id) >= 0;

/** Looks up tokens, and counts their letters: Unigram tries all parts of a text, WordPiece puts those of a word together. */
class CountedMap extends Map<string, number> {
  override get(token: unknown): number | undefined {
    countWork(String(token).length);
    return super.get(token as string);
  }

  override has(token: unknown): boolean {
    const { length } = String(token);
    countWork(length > USUAL_WORD_LENGTH ? 32 * length : length);
    return super.has(token as string);
  }
}

/** Counts the patterns of the file; those of the package are safe. */
function countPatterns(part: unknown): void {
  const own = Object(part) as Record<string, unknown>;
  const inner = own['normalizers'] ?? own['tokenizers'] ?? own['decoders'];
  if (Array.isArray(inner)) for (const one of inner) countPatterns(one);
  const { config, pattern } = own;
  const isOfFile = (Object(config) as JsonRecord)['pattern'] !== undefined;
  if (isOfFile && pattern instanceof RegExp) own['pattern'] = new MeteredRegExp(pattern);
}

/** The contents of added tokens. Throws FormatError for what takes memory or steps without bound. */
function requireBounded(file: JsonRecord, config: JsonRecord): readonly string[] {
  const { model, added_tokens: added, normalizer, pre_tokenizer, decoder, post_processor } = file;
  const { vocab = {}, end_of_word_suffix, continuing_subword_suffix } = Object(model) as JsonRecord;
  requireParts([
    normalizer,
    pre_tokenizer,
    decoder,
    post_processor,
    { end_of_word_suffix, continuing_subword_suffix },
  ]);
  const tokens = listOf(added).map((token) => Object(token) as JsonRecord);
  const contents = tokens.map(({ content }) => String(content));
  requireLength(contents, 'added tokens', MAX_ADDED_LENGTH);
  const pieces = listOf(vocab).map((piece) => String(listOf(piece)[0]));
  requireLength(pieces, 'tokens', MAX_UNIGRAM_LENGTH);
  const { length } = listOf(config['additional_special_tokens']);
  countWork(length * (length + tokens.length));
  // In a list the place is the id.
  const ids = [
    ...Object.values(pieces.length > 0 ? {} : Object(vocab)),
    ...tokens.map(({ id }) => id),
  ];
  // Some leave a few ids out.
  const most = 2 * (ids.length + pieces.length) + 1000;
  const wrong = ids.findIndex((id) => !isId(id) || Number(id) >= most);
  if (wrong < 0) return contents;
  throw refused(`the id ${describe(ids[wrong] ?? 'none')}`, `integers from 0 to ${most - 1}`);
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function requireLength(texts: readonly string[], what: string, most: number): void {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length > most) throw refused(`${what} of ${length} letters`, `at most ${most}`);
}

/** Fields that are put before texts, behind words and for blanks. */
const AFFIXES = [
  'prepend',
  'str_rep',
  'replacement',
  'end_of_word_suffix',
  'continuing_subword_suffix',
];

/** What parts of some types have to be, so that they end and double no text. */
const PARTS: Readonly<Record<string, (part: JsonRecord) => boolean>> = {
  FixedLength: ({ length }) => isId(length) && length !== 0,
  BPEDecoder: ({ suffix }) => typeof suffix === 'string' && suffix !== '',
  Metaspace: (part) => !/ /.test(`${String(part['str_rep'])}${String(part['replacement'])}`),
  TemplateProcessing: ({ single }) =>
    Array.isArray(single) &&
    single.length <= MAX_PART_COUNT &&
    single.filter((item) => isRecord(item) && 'Sequence' in item).length < 2,
  // What these mean in JavaScript they mean in no tokenizer.
  Replace: ({ content, pattern }) => hasPattern(pattern) && !/\$[$&`'<\d]/.test(String(content)),
  Split: ({ pattern }) => hasPattern(pattern),
};

function hasPattern(pattern: unknown): boolean {
  const { Regex, String: text } = Object(pattern) as JsonRecord;
  return typeof (Regex ?? text) === 'string';
}

function requireParts(roots: readonly unknown[]): void {
  let [count, byteLevels, patternLength] = [0, 0, 0];
  const pending = [...roots];
  while (pending.length > 0) {
    const part = pending.pop();
    if (typeof part !== 'object' || part === null) continue;
    for (const [name, value] of Object.entries(part)) {
      pending.push(value);
      const length = typeof value === 'string' ? value.length : 0;
      if (AFFIXES.includes(name) && length > MAX_AFFIX_LENGTH)
        throw refused(`the ${name} of ${length} letters`, `at most ${MAX_AFFIX_LENGTH}`);
      if (name === 'Regex' || name === 'String') patternLength += length;
    }
    const own = part as JsonRecord;
    const type = String(own['type']);
    if ('type' in own) count++;
    if (type === 'ByteLevel') byteLevels++;
    if (Object.hasOwn(PARTS, type) && PARTS[type]?.(own) === false)
      throw refused(`the ${type} ${describe(own)}`, 'one that is whole, ends, and doubles no text');
  }
  if (count > MAX_PART_COUNT) throw refused(`${count} steps`, `at most ${MAX_PART_COUNT}`);
  if (byteLevels > MAX_BYTE_LEVEL_COUNT)
    throw refused(`${byteLevels} steps of ByteLevel`, `at most ${MAX_BYTE_LEVEL_COUNT}`);
  if (patternLength > MAX_PATTERN_LENGTH)
    throw refused(`patterns of ${patternLength} letters`, `at most ${MAX_PATTERN_LENGTH}`);
}

/** `model.rank_sizes`, which tokenizers have that were made of GGUF. */
function rankSizes(tokenizer: JsonRecord): readonly number[] | undefined {
  const { model } = tokenizer as { readonly model?: { readonly rank_sizes?: readonly number[] } };
  return model?.rank_sizes;
}

/** Gives so many pairs in a row one rank; of those the package joins the leftmost first. */
function shareRanks(ranks: Map<string, number>, sizes: readonly number[]): void {
  // They stand there in the order of the file, and stay where they are.
  const pairs = ranks.keys();
  for (const [rank, size] of sizes.entries()) {
    for (let i = 0; i < size; i++) {
      const pair = pairs.next();
      if (pair.done === true) return;
      ranks.set(pair.value, rank);
    }
  }
}
