import { FormatError } from '../../../core/errors.ts';
import { parseJsonObject } from '../../../core/bytes/sniff.ts';
import type { Reply } from '../../../worker/protocol/reply.ts';
import {
  type ChatMessage,
  type ChatTemplate,
  openChatTemplate,
  type TemplateInput,
} from './chat-template.ts';
import { type VocabularyData, vocabularyData } from './vocabulary-data.ts';
import { type ReadFile, readModelFolder } from './model-folder.ts';
import type { JsonObject, ModelFolder } from '../gguf-folder.ts';
import { type DecodedNext, StreamDecoder, type StreamState } from './stream-decoder.ts';
import { valueOf } from './answers.ts';
import type { TokenizerFiles } from './bounded-tokenizer.ts';

/** Reads a file of the page's, or a range of its bytes; undefined where there is none. */
export type ReadPage = (
  name: string,
  range?: readonly [begin: number, end: number],
) => Promise<Reply<Uint8Array | undefined>>;

/** What a page needs of a model's small files. */
export interface TextFacts {
  /** `config.json`: its numbers, short texts and lists of numbers. */
  readonly config: JsonObject;
  /** `generation_config.json`, likewise. */
  readonly generation: JsonObject;
  readonly hasTemplate: boolean;
}

/** Settings in `tokenizer.json` of how long texts are cut and short ones filled up. */
export interface TokenizerFacts {
  readonly truncation: JsonObject;
  readonly padding: JsonObject;
}

/** Vocabularies of 256,000 tokens take a third of it. */
const MOST_BYTES = 2 ** 27;
const LONGEST_TEXT = 1000;
const MOST_NUMBERS = 1000;

/**
 * What a model's files hold as code: heads, tokenizers and templates. It works where it is told to, in a page best in a thread of its
 * own: a vocabulary of 152,000 tokens takes seconds.
 */
export class TextReader {
  #tokenizer: SyncTokenizer | undefined;
  #template: ChatTemplate | undefined;
  /** `tokenizer.json`. */
  #content: JsonObject = {};

  /** Reads the small files of a model, or the head of one in GGUF. Rejects as `readModelFolder` and `readGgufFolder` do. */
  async openFolder(file: string, readPage: ReadPage): Promise<TextFacts> {
    const read: ReadFile = async (name) => {
      const bytes = valueOf(await readPage(name));
      return bytes && requireSmall(name, bytes);
    };
    const folder = /\.gguf$/i.test(file)
      ? await readGguf(file, read, readPage)
      : await readModelFolder(read);
    const { tokenizer, tokenizerConfig, chatTemplate, config, generation } = folder;
    this.#content = tokenizer;
    this.#tokenizer = await openTokenizer({ tokenizer, config: tokenizerConfig });
    this.#template = await openChatTemplate(tokenizerConfig, chatTemplate);
    return {
      config: plainValues(config),
      generation: plainValues(generation),
      hasTemplate: this.#template !== undefined,
    };
  }

  /** Makes a tokenizer of `tokenizer.json` and `tokenizer_config.json`. Rejects with FormatError. */
  async openTokenizer(tokenizer: Uint8Array, config: Uint8Array): Promise<TokenizerFacts> {
    const read = (name: string, bytes: Uint8Array): JsonObject =>
      parseJsonObject(name, requireSmall(name, bytes));
    this.#content = read('tokenizer.json', tokenizer);
    this.#tokenizer = await openTokenizer({
      tokenizer: this.#content,
      config: read('tokenizer_config.json', config),
    });
    const { truncation, padding } = this.#content;
    return { truncation: plainValues(truncation), padding: plainValues(padding) };
  }

  encode(text: string, addSpecialTokens: boolean): number[] {
    return this.#own.encode(text, { addSpecialTokens });
  }

  decode(ids: readonly number[]): string {
    return this.#own.decode(ids);
  }

  idOf(token: string): number | undefined {
    return this.#own.idOf(token);
  }

  /** The text that each token completes; with `isEnd`, also what is left. */
  decodeNext(state: StreamState, ids: readonly number[], isEnd: boolean): DecodedNext {
    const decoder = new StreamDecoder((all) => this.#own.decode(all), state);
    const texts = ids.map((id) => decoder.push(id));
    if (isEnd) texts.push(decoder.end());
    return { texts, state: decoder.state };
  }

  /** A conversation as tokens. */
  encodeChat(messages: readonly ChatMessage[], input: TemplateInput): number[] {
    const text = this.#template?.render(messages, input) ?? '';
    return this.#own.encode(text, { addSpecialTokens: false });
  }

  vocabulary(size: number, endTokens: readonly number[]): VocabularyData {
    return vocabularyData(tokenBytes(this.#content, size), { endTokens });
  }

  get #own(): SyncTokenizer {
    if (this.#tokenizer === undefined) throw new Error('internal: no tokenizer is open');
    return this.#tokenizer;
  }
}

async function readGguf(file: string, read: ReadFile, readPage: ReadPage): Promise<ModelFolder> {
  const { readGgufFolder } = await import('./gguf-model-folder.ts');
  return readGgufFolder(file, read, async (name, ...range) => valueOf(await readPage(name, range)));
}

function requireSmall(where: string, bytes: Uint8Array): Uint8Array {
  if (bytes.byteLength <= MOST_BYTES) return bytes;
  const got = `${bytes.byteLength} bytes`;
  throw new FormatError({ where, got, expected: `at most ${MOST_BYTES}, as all tokenizers have` });
}

/** The fields of a file that are numbers, short texts, flags, and short lists of numbers. */
function plainValues(file: unknown): JsonObject {
  const isPlain = (value: unknown): boolean =>
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    (typeof value === 'string' && value.length <= LONGEST_TEXT) ||
    (Array.isArray(value) &&
      value.length <= MOST_NUMBERS &&
      value.every((item) => typeof item === 'number'));
  return Object.fromEntries(Object.entries(Object(file)).filter(([, value]) => isPlain(value)));
}

export interface SyncTokenizer {
  encode(text: string, options?: { readonly addSpecialTokens?: boolean }): number[];
  decode(ids: readonly number[]): string;
  idOf(token: string): number | undefined;
}

/** The tokenizer of @huggingface/tokenizers, which is loaded with the first model that needs it. */
export async function openTokenizer(files: TokenizerFiles): Promise<SyncTokenizer> {
  const { BoundedTokenizer } = await import('./bounded-tokenizer.ts');
  const own = new BoundedTokenizer(files);
  return {
    encode: (text, { addSpecialTokens = true } = {}) => own.encode(text, addSpecialTokens),
    decode: (ids) => (ids.length === 0 ? '' : own.decode(ids)),
    idOf: (token) => own.idOf(token),
  };
}

/**
 * The bytes of each token of a `tokenizer.json`, by id; undefined for special tokens. Tokens of byte-level models spell bytes
 * as characters (GPT-2), those of SentencePiece have `▁` for a blank and `<0x0A>` for a byte.
 */
export function tokenBytes(tokenizer: JsonObject, size: number): (Uint8Array | undefined)[] {
  const { vocab } = (tokenizer['model'] ?? {}) as { readonly vocab?: unknown };
  const entries = entriesOf(vocab);
  const bytes: (Uint8Array | undefined)[] = Array.from({ length: size }, () => undefined);
  const spell = JSON.stringify(tokenizer['decoder'] ?? null).includes('"ByteLevel"')
    ? byteLevel()
    : sentencePiece;
  for (const [token, id] of entries) if (id < size) bytes[id] = spell(token);
  for (const { id, content, special } of addedTokens(tokenizer)) {
    if (id < size) bytes[id] = special ? undefined : new TextEncoder().encode(content);
  }
  return bytes;
}

/** A map from tokens to ids, or a list of tokens with their scores. */
function entriesOf(vocab: unknown): [string, number][] {
  if (Array.isArray(vocab)) {
    return vocab.map((entry: unknown, id) => [String(Array.isArray(entry) ? entry[0] : entry), id]);
  }
  if (typeof vocab === 'object' && vocab !== null) {
    return Object.entries(vocab).map(([token, id]) => [token, Number(id)]);
  }
  const expected = 'a vocabulary under model.vocab';
  throw new FormatError({ where: 'tokenizer.json', got: 'no vocabulary', expected });
}

interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special: boolean;
}

function addedTokens(tokenizer: JsonObject): readonly AddedToken[] {
  const added = tokenizer['added_tokens'];
  return Array.isArray(added) ? (added as readonly AddedToken[]) : [];
}

/** Printable characters of Latin-1 stand for themselves, the other bytes for characters from U+0100 on, in order. */
function byteLevel(): (token: string) => Uint8Array {
  const byteOf = new Map<string, number>();
  let next = 0x100;
  for (let byte = 0; byte < 256; byte++) {
    const isPrintable =
      (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    byteOf.set(String.fromCodePoint(isPrintable ? byte : next++), byte);
  }
  return (token) => Uint8Array.from(token, (character) => byteOf.get(character) ?? 0x3f);
}

function sentencePiece(token: string): Uint8Array {
  const byte = /^<0x([0-9A-F]{2})>$/.exec(token)?.[1];
  if (byte !== undefined) return Uint8Array.of(Number.parseInt(byte, 16));
  return new TextEncoder().encode(token.replaceAll('\u2581', ' '));
}
