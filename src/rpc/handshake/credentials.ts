import { UnsupportedError, UsageError } from '../../core/errors.ts';
import { encodeToken, isMadeToken, TOKEN_BYTE_LENGTH } from './create-token.ts';

const MIN_TOKEN_LENGTH = 16;
/** OWASP's number for PBKDF2 with SHA-256: a guess costs as much as all of them. */
const STRETCH_ITERATIONS = 600_000;
const KEPT_SECRETS = 16;

/**
 * Each has keys of its own, so that what proves one thing proves no other. `session` is the word of the
 * protocol for a connection.
 */
export type Purpose = 'session' | 'relay' | 'relay token';

/** Keys of tokens that were used here: to stretch one takes a few tenths of a second. */
const secrets = new Map<string, Promise<CryptoKey>>();

/**
 * The key that proves one thing by HMAC-SHA-256. Rejects with UsageError for a token that could be
 * guessed, with UnsupportedError where there is no WebCrypto.
 */
export async function importToken(token: string, purpose: Purpose): Promise<CryptoKey> {
  const secret = await secretOf(token);
  const algorithm = { name: 'HMAC', hash: 'SHA-256', length: 256 };
  return crypto.subtle.deriveKey(hkdf(purpose), secret, algorithm, false, ['sign', 'verify']);
}

/**
 * The credential by which a relay knows who belongs to a connection's token. Nobody finds the token by
 * it. Rejects as `importToken` does.
 */
export async function deriveRelayToken(token: string): Promise<string> {
  const bits = TOKEN_BYTE_LENGTH * 8;
  const derived = await crypto.subtle.deriveBits(hkdf('relay token'), await secretOf(token), bits);
  return encodeToken(new Uint8Array(derived));
}

function hkdf(purpose: Purpose) {
  const info = new TextEncoder().encode(`weft-rpc ${purpose}`);
  return { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info };
}

async function secretOf(token: string): Promise<CryptoKey> {
  checkToken(token);
  requireWebCrypto();
  const known = secrets.get(token);
  if (known !== undefined) return known;
  const secret = isMadeToken(token) ? asSecret(encode(token)) : stretch(token);
  secrets.set(token, secret);
  for (const oldest of secrets.keys()) if (secrets.size > KEPT_SECRETS) secrets.delete(oldest);
  return secret;
}

async function stretch(token: string): Promise<CryptoKey> {
  const base = await crypto.subtle.importKey('raw', encode(token), 'PBKDF2', false, ['deriveBits']);
  const salt = encode('weft-rpc token');
  const algorithm = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: STRETCH_ITERATIONS };
  return asSecret(await crypto.subtle.deriveBits(algorithm, base, 256));
}

function asSecret(bytes: BufferSource): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', bytes, 'HKDF', false, ['deriveKey', 'deriveBits']);
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function checkToken(token: string): void {
  if (typeof token === 'string' && token.length >= MIN_TOKEN_LENGTH) return;
  throw new UsageError({
    where: 'token of a remote connection',
    got: typeof token === 'string' ? `${token.length} characters` : typeof token,
    expected: `at least ${MIN_TOKEN_LENGTH} random ones`,
    remedy: 'Make one with createToken(), or `weft rpc token`.',
  });
}

/** Browsers hide it from pages that came over plain http from another machine. */
function requireWebCrypto(): void {
  if (globalThis.crypto?.subtle !== undefined) return;
  throw new UnsupportedError({
    where: 'remote connection',
    got: 'a page without WebCrypto, which can neither prove a token nor encrypt',
    expected: 'a page of https, or of this machine',
  });
}
