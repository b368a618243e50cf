import { FormatError } from '../../core/errors.ts';
import type { JsonObject } from '../../frontend/decoders/gguf-folder.ts';

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
