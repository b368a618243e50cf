import { UnsupportedError, FormatError } from '../../../../core/errors.ts';
import type { GgufMetadata } from '../gguf-metadata.ts';
import type { JsonRecord } from '../json-record.ts';
import { endTokens, isControlName } from './end-tokens.ts';
import {
  type GgufSpecialIds,
  type GgufVocabulary,
  readGgufVocabulary,
  readSpecialIds,
  TOKEN_TYPES,
} from './gguf-vocabulary.ts';
import { type PreTokenizer, preTokenizer, preTokenizerNames } from './pre-tokenizers.ts';

/** Letters of parts that are looked up, and of pairs that are found: real vocabularies have some twenty million. */
const MAX_LETTER_COUNT = 2 ** 28;
/** A pair is kept, and becomes a key. */
const PAIR_WEIGHT = 8;

/** Pairs of a byte-pair encoding, those that are joined first at the front. */
interface ScoredMerges {
  readonly merges: readonly (readonly [string, string])[];
  /**
   * How many pairs of `merges` have each rank, from the first rank on. Of pairs of one rank the leftmost in a text is joined
   * first, whichever it is.
   */
  readonly rankSizes: readonly number[];
}

/**
 * SentencePiece joins the two neighbours that make the token with the highest score, of several the leftmost
 * (Kudo and Richardson 2018; `llm_tokenizer_spm` of llama.cpp). As pairs with ranks: each way to make a token of two parts that can
 * occur, which are tokens or single characters; all that make tokens of one score share a rank.
 *
 * Throws FormatError for long tokens that are made of others in very many ways.
 */
function scoredMerges({ tokens, scores }: GgufVocabulary): ScoredMerges {
  const known = new Set(tokens);
  const canOccur = (part: string): boolean =>
    part.length === 1 || known.has(part) || (part.length === 2 && isPair(part, 0));
  // A part of another length is cut out of no token, however long that is.
  const lengths = new Set([1, 2, ...tokens.map(({ length }) => length)]);
  const order = tokens.map((_, id) => id).toSorted((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
  const merges: [string, string][] = [];
  const rankSizes: number[] = [];
  let last: number | undefined;
  let letterCount = 0;
  for (const id of order) {
    const token = tokens[id] ?? '';
    const score = scores[id] ?? 0;
    const before = merges.length;
    for (let at = 1; at < token.length; at++) {
      if (!lengths.has(at) || !lengths.has(token.length - at)) continue;
      // Not within a character of two UTF-16 units.
      if (isPair(token, at - 1)) continue;
      const [left, right] = [token.slice(0, at), token.slice(at)];
      const isPairOfTokens = canOccur(left) && canOccur(right);
      if (isPairOfTokens) merges.push([left, right]);
      letterCount += token.length * (isPairOfTokens ? PAIR_WEIGHT : 1);
      if (letterCount > MAX_LETTER_COUNT) throw tooManyWays(token.length);
    }
    const added = merges.length - before;
    if (added === 0) continue;
    if (score !== last) rankSizes.push(0);
    last = score;
    rankSizes[rankSizes.length - 1] = (rankSizes.at(-1) ?? 0) + added;
  }
  return { merges, rankSizes };
}

function tooManyWays(length: number): FormatError {
  return new FormatError({
    where: 'tokenizer.ggml.tokens',
    got: `tokens of up to ${length} letters that are made of others in very many ways`,
    expected: `ways of at most ${MAX_LETTER_COUNT} letters together`,
    remedy: 'Convert the model again with a current llama.cpp.',
  });
}

/** Returns true if a character of two UTF-16 units begins at `at`. */
const isPair = (text: string, at: number): boolean => (text.codePointAt(at) ?? 0) > 0xffff;

/** Files that transformers.js has beside a model. */
export interface TokenizerFolder {
  /** `tokenizer.json` */
  readonly tokenizer: JsonRecord;
  /** `tokenizer_config.json`, with the chat template. */
  readonly tokenizerConfig: JsonRecord;
  /** `generation_config.json`, with the tokens that end a text. */
  readonly generationConfig: JsonRecord;
}

/** Returns true if a GGUF file has a tokenizer; some have only weights. */
export function hasGgufTokenizer(metadata: GgufMetadata): boolean {
  const model = metadata.string('tokenizer.ggml.model') ?? 'none';
  return model !== 'none' && model !== 'no_vocab';
}

/**
 * The tokenizer of a GGUF file, as the files that @huggingface/tokenizers reads. Tokens are those
 * of llama.cpp: SentencePiece's of the model `llama` (llama 2, gemma, phi 3), byte-level ones of
 * the model `gpt2`. Beyond what Hugging Face writes, `model.rank_sizes` of the former says how many
 * merges in a row have one rank, for `openTokenizer`.
 *
 * Throws UnsupportedError for another kind, and for a pre-tokenizer that is not known; FormatError
 * for a file that contradicts itself.
 */
export function ggufTokenizer(metadata: GgufMetadata): TokenizerFolder {
  const model = metadata.string('tokenizer.ggml.model') ?? 'none';
  const kind =
    model === 'llama'
      ? sentencePiece(metadata)
      : model === 'gpt2'
        ? byteLevel(metadata)
        : undefined;
  if (kind === undefined)
    throw unknown(metadata, 'tokenizer.ggml.model', [model, ['gpt2', 'llama']]);
  const { vocabulary, ids, parts } = kind;
  const text = (id: number | undefined): string | undefined =>
    id === undefined ? undefined : vocabulary.tokens[id];
  const adds = (name: string, otherwise: boolean): boolean =>
    metadata.bool(`tokenizer.ggml.add_${name}_token`) ?? otherwise;
  const bos = adds('bos', kind.addsBos) ? text(ids.bos) : undefined;
  const eos = adds('eos', false) ? text(ids.eos) : undefined;
  return {
    tokenizer: {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: addedTokens(metadata, vocabulary),
      ...parts,
      post_processor: around(bos, eos),
    },
    tokenizerConfig: {
      ...defined({
        bos_token: text(ids.bos),
        eos_token: text(ids.eos),
        unk_token: text(ids.unknown),
        pad_token: text(ids.padding),
        chat_template: chatTemplate(metadata),
      }),
      add_bos_token: bos !== undefined,
      add_eos_token: eos !== undefined,
      clean_up_tokenization_spaces: false,
    },
    generationConfig: {
      ...defined({ bos_token_id: ids.bos, pad_token_id: ids.padding }),
      eos_token_id: endTokens(vocabulary, ids),
      ...samplingOf(metadata),
    },
  };
}

/** The parts that differ between kinds of tokenizers. */
interface Kind {
  readonly vocabulary: GgufVocabulary;
  readonly ids: GgufSpecialIds;
  /** Puts the BOS token before each text, unless the file says otherwise. */
  readonly addsBos: boolean;
  /** Fields of `tokenizer.json` for this kind. */
  readonly parts: JsonRecord;
}

const BLANK = '▁';

function sentencePiece(metadata: GgufMetadata): Kind {
  const vocabulary = readGgufVocabulary(metadata);
  const ids = readSpecialIds(metadata, vocabulary, { bos: 1, eos: 2, unknown: 0 });
  const hasPrefix = metadata.bool('tokenizer.ggml.add_space_prefix') ?? true;
  const escape = { type: 'Replace', pattern: { String: ' ' }, content: BLANK };
  const { merges, rankSizes } = scoredMerges(vocabulary);
  const unknown = ids.unknown === undefined ? null : (vocabulary.tokens[ids.unknown] ?? null);
  const parts = {
    normalizer: hasPrefix
      ? { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: BLANK }, escape] }
      : escape,
    pre_tokenizer: null,
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: BLANK }, content: ' ' },
        { type: 'ByteFallback' },
        { type: 'Fuse' },
        ...(hasPrefix ? [{ type: 'Strip', content: ' ', start: 1, stop: 0 }] : []),
      ],
    },
    model: {
      ...bytePairModel(vocabulary.tokens, merges),
      unk_token: unknown,
      fuse_unk: true,
      byte_fallback: true,
      rank_sizes: rankSizes,
    },
  };
  return { vocabulary, ids, addsBos: true, parts };
}

function byteLevel(metadata: GgufMetadata): Kind {
  // Files of 2023 have none, which llama.cpp takes for this one.
  const name = metadata.string('tokenizer.ggml.pre') ?? 'default';
  const known = preTokenizer(name);
  if (known === undefined)
    throw unknown(metadata, 'tokenizer.ggml.pre', [name, preTokenizerNames()]);
  const vocabulary = readGgufVocabulary(metadata);
  const merges = (metadata.strings('tokenizer.ggml.merges') ?? []).map((pair) => {
    const at = pair.indexOf(' ', 1);
    return [pair.slice(0, at), pair.slice(at + 1)] as const;
  });
  const parts = {
    normalizer: null,
    pre_tokenizer: cutter(known),
    decoder: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false },
    model: {
      ...bytePairModel(vocabulary.tokens, merges),
      ignore_merges: known.ignoresMerges === true,
    },
  };
  const ids = readSpecialIds(metadata, vocabulary);
  return { vocabulary, ids, addsBos: known.addsBos === true, parts };
}

function cutter({ patterns }: PreTokenizer): JsonRecord {
  const cuts = patterns.map((pattern) => {
    return { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false };
  });
  const bytes = {
    type: 'ByteLevel',
    add_prefix_space: false,
    trim_offsets: true,
    use_regex: false,
  };
  return { type: 'Sequence', pretokenizers: [...cuts, bytes] };
}

/** Tokens that are found in a text before it is cut. Those that users add are shown, others are not. */
function addedTokens(metadata: GgufMetadata, { tokens, types }: GgufVocabulary): JsonRecord[] {
  const stripsBehind = /phi-?3/i.test(metadata.string('general.name') ?? '');
  const added: JsonRecord[] = [];
  for (const [id, content] of tokens.entries()) {
    const type = types[id];
    const isSpecial =
      type === TOKEN_TYPES.control || type === TOKEN_TYPES.unknown || isControlName(content);
    if (!isSpecial && type !== TOKEN_TYPES.userDefined) continue;
    added.push({
      id,
      content,
      single_word: false,
      lstrip: false,
      // Phi 3's tokenizer.json says so, and GGUF has no place for it.
      rstrip: stripsBehind && !KEEP_BLANKS.has(content),
      normalized: false,
      special: isSpecial,
    });
  }
  return added;
}

/** Tokens of phi 3 that leave the blanks behind them. */
const KEEP_BLANKS: ReadonlySet<string> = /* @__PURE__ */ new Set(['<unk>', '<s>', '<|endoftext|>']);

/** The tokens around a text. */
function around(bos: string | undefined, eos: string | undefined): JsonRecord | null {
  if (bos === undefined && eos === undefined) return null;
  const special = (id: string, type: number): JsonRecord => ({
    SpecialToken: { id, type_id: type },
  });
  const text = (name: 'A' | 'B', type: number): JsonRecord[] => [
    ...(bos === undefined ? [] : [special(bos, type)]),
    { Sequence: { id: name, type_id: type } },
    ...(eos === undefined ? [] : [special(eos, type)]),
  ];
  return {
    type: 'TemplateProcessing',
    single: text('A', 0),
    pair: [...text('A', 0), ...text('B', 1)],
    special_tokens: {},
  };
}

/** One template, or several by their names as transformers has them. */
function chatTemplate(metadata: GgufMetadata): unknown {
  const key = 'tokenizer.chat_template';
  const plain = metadata.string(key);
  const names = metadata.strings('tokenizer.chat_templates') ?? [];
  const named = names.flatMap((name) => {
    const template = metadata.string(`${key}.${name}`);
    return template === undefined ? [] : [{ name, template }];
  });
  if (named.length === 0) return plain;
  return plain === undefined ? named : [{ name: 'default', template: plain }, ...named];
}

/** Options of generation by their names in GGUF. */
const SAMPLING = {
  temp: 'temperature',
  top_k: 'top_k',
  top_p: 'top_p',
  min_p: 'min_p',
  penalty_repeat: 'repetition_penalty',
} as const;

/** Ways of sampling that are not there. */
const OTHER_SAMPLING = ['mirostat', 'xtc_probability'];

function samplingOf(metadata: GgufMetadata): JsonRecord {
  for (const name of OTHER_SAMPLING.map((name) => `general.sampling.${name}`)) {
    const value = metadata.number(name) ?? 0;
    if (value !== 0) throw unknown(metadata, name, [String(value), ['0']]);
  }
  const options = Object.entries(SAMPLING).flatMap(([from, to]) => {
    const value = metadata.number(`general.sampling.${from}`);
    return value === undefined ? [] : [[to, value] as const];
  });
  return Object.fromEntries(options);
}

/** Without what is undefined. */
function defined(values: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function unknown(
  metadata: GgufMetadata,
  key: string,
  [got, known]: readonly [string, readonly string[]],
): UnsupportedError {
  return new UnsupportedError({
    where: `${metadata.where}, ${key}`,
    got,
    expected: `one of ${known.join(', ')}`,
    remedy:
      "Put the model's own tokenizer.json, tokenizer_config.json and config.json beside the executable.",
  });
}

/** The `model` of a `tokenizer.json` that joins pairs, the first ones before later ones. */
export function bytePairModel(
  tokens: readonly string[],
  merges: readonly (readonly [string, string])[],
): JsonRecord {
  return {
    type: 'BPE',
    dropout: null,
    unk_token: null,
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: false,
    byte_fallback: false,
    ignore_merges: false,
    vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
    merges,
  };
}
