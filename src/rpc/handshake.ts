import { UnsupportedError, UsageError } from '../core/errors.ts';
import type { Channel, Frame } from './channel.ts';
import {
  AccessError,
  errorFromWire,
  errorToWire,
  ProtocolError,
  RemoteLostError,
} from './errors.ts';
import { decodeHead, encodeHead } from './messages.ts';
import type { SealKeys } from './sealed-channel.ts';
import { malformed } from './wire-values.ts';

const PROTOCOL = 'weft-rpc';
export const PROTOCOL_VERSION = 1;
const NONCE_BYTE_LENGTH = 32;
const MIN_TOKEN_LENGTH = 16;
/** Nobody has proved anything yet. */
const MAX_BYTE_LENGTH = 4096;
const MAX_NAME_LENGTH = 100;

export interface HandshakeOptions {
  readonly token: string;
  readonly name: string;
  readonly timeoutMs: number;
  /** The side that connects asks for it; the side that lends insists. */
  readonly isSealed: boolean;
}

export interface Peer {
  /** What the other side calls itself. */
  readonly name: string;
  /** What the session is sealed with, if it is. */
  readonly keys: SealKeys | undefined;
}

/**
 * The side that connects. Both sides prove that they know the token by an HMAC over two fresh random
 * numbers, first this one, so that a stranger who calls learns nothing. Rejects with AccessError.
 */
export async function introduce(channel: Channel, options: HandshakeOptions): Promise<Peer> {
  const key = await importToken(options.token);
  return timed(channel, options.timeoutMs, async () => {
    const mine = makeNonce();
    const hello = [PROTOCOL, PROTOCOL_VERSION, mine, options.name, options.isSealed];
    channel.send({ head: encodeHead(hello) });
    const [theirs] = await step(channel, 'challenge');
    const nonces = [mine, checkBytes(theirs)];
    channel.send({ head: encodeHead(['proof', await sign(key, 'client', nonces)]) });
    const [proof, name] = await step(channel, 'welcome');
    if (!(await verify(key, 'server', { nonces, proof }))) throw stranger();
    const keys = options.isSealed ? await sealKeys(key, 'client', nonces) : undefined;
    return { name: checkName(name), keys };
  });
}

/** The side that lends. Rejects with AccessError, ProtocolError or RemoteLostError. */
export async function admit(channel: Channel, options: HandshakeOptions): Promise<Peer> {
  const key = await importToken(options.token);
  return timed(channel, options.timeoutMs, async () => {
    const [protocol, version, theirs, name, isSealed] = readStep(await nextFrame(channel));
    if (protocol !== PROTOCOL) throw malformed('another protocol');
    if (version !== PROTOCOL_VERSION) throw wrongVersion(version);
    if (options.isSealed && isSealed !== true) throw notSealed();
    const mine = makeNonce();
    const nonces = [checkBytes(theirs), mine];
    channel.send({ head: encodeHead(['challenge', mine]) });
    const [proof] = await step(channel, 'proof');
    if (!(await verify(key, 'client', { nonces, proof }))) throw stranger();
    const answer = await sign(key, 'server', nonces);
    const keys = isSealed === true ? await sealKeys(key, 'server', nonces) : undefined;
    channel.send({ head: encodeHead(['welcome', answer, options.name]) });
    return { name: checkName(name), keys };
  });
}

/** Throws UsageError for a token that could be guessed. */
export async function importToken(token: string): Promise<CryptoKey> {
  if (token.length < MIN_TOKEN_LENGTH) {
    throw new UsageError({
      where: 'token of a remote session',
      got: `${token.length} characters`,
      expected: `at least ${MIN_TOKEN_LENGTH} random ones`,
      remedy: 'Make one with createToken(), or `weft rpc token`.',
    });
  }
  // Browsers hide it from pages that came over plain http from another machine.
  if (globalThis.crypto?.subtle === undefined) {
    throw new UnsupportedError({
      where: 'remote session',
      got: 'a page without WebCrypto',
      expected: 'a page of https, or of this machine',
    });
  }
  const bytes = new TextEncoder().encode(token);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign', 'verify']);
}

export function makeNonce(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(NONCE_BYTE_LENGTH));
}

/** Everything that is signed has a length, so that no two texts run together the same way. */
function statement(role: string, parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(encodeHead([PROTOCOL, PROTOCOL_VERSION, role, ...parts]));
}

export async function sign(
  key: CryptoKey,
  role: string,
  nonces: readonly Uint8Array[],
): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, statement(role, nonces)));
}

/** A key for each direction: like the proofs, but of statements that are never sent. */
async function sealKeys(
  key: CryptoKey,
  role: 'client' | 'server',
  nonces: readonly Uint8Array[],
): Promise<SealKeys> {
  const derive = async (sender: string, use: 'encrypt' | 'decrypt'): Promise<CryptoKey> => {
    const bytes = new Uint8Array(await sign(key, `what the ${sender} seals`, nonces));
    return crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, [use]);
  };
  const other = role === 'client' ? 'server' : 'client';
  return { outgoing: await derive(role, 'encrypt'), incoming: await derive(other, 'decrypt') };
}

/** Compares in constant time. */
export async function verify(
  key: CryptoKey,
  role: string,
  { nonces, proof }: { readonly nonces: readonly Uint8Array[]; readonly proof: unknown },
): Promise<boolean> {
  const bytes = new Uint8Array(checkBytes(proof));
  return crypto.subtle.verify('HMAC', key, bytes, statement(role, nonces));
}

/** The next frame, or the end of the channel. */
export function nextFrame(channel: Channel): Promise<Frame> {
  return new Promise((resolve, reject) => {
    channel.listen({
      frame: (frame) => {
        channel.listen(undefined);
        resolve(frame);
      },
      closed: (reason) =>
        reject(
          new RemoteLostError({
            where: 'beginning of a remote session',
            got: reason,
            expected: 'an answer',
          }),
        ),
    });
  });
}

export function readStep({ head, body }: Frame): unknown[] {
  if (body !== undefined) throw malformed('tensors before the session began');
  return decodeHead(head, MAX_BYTE_LENGTH);
}

/** A step of this name; one named `error` is the other side's refusal. */
export async function step(channel: Channel, expected: string): Promise<unknown[]> {
  const [name, ...fields] = readStep(await nextFrame(channel));
  if (name === 'error') throw errorFromWire(fields[0], 'the other side');
  if (name !== expected) throw malformed(`the step ${String(name)} where ${expected} belongs`);
  return fields;
}

/** Says why and closes, when the work fails or takes too long. */
export async function timed<T>(
  channel: Channel,
  timeoutMs: number,
  work: () => Promise<T>,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    const error = new AccessError({
      where: 'beginning of a remote session',
      got: `no answer in ${timeoutMs} ms`,
      expected: 'the next step',
    });
    timer = setTimeout(() => reject(error), timeoutMs);
  });
  try {
    return await Promise.race([work(), tooLate]);
  } catch (error) {
    if (error instanceof AccessError || error instanceof ProtocolError) {
      channel.send({ head: encodeHead(['error', errorToWire(withoutStack(error))]) });
    }
    channel.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** A stranger learns nothing about the code. */
function withoutStack(error: Error): Error {
  const { name, message } = error;
  const copy = new Error(message);
  copy.name = name;
  Object.defineProperty(copy, 'stack', { value: undefined });
  return copy;
}

export function checkBytes(bytes: unknown): Uint8Array {
  if (bytes instanceof Uint8Array && bytes.byteLength === NONCE_BYTE_LENGTH) return bytes;
  throw malformed('a number or proof that is not 32 bytes');
}

export function checkName(name: unknown): string {
  if (typeof name === 'string' && name.length <= MAX_NAME_LENGTH) return name;
  throw malformed('a name that is no short text');
}

function wrongVersion(version: unknown): ProtocolError {
  return new ProtocolError({
    where: 'beginning of a remote session',
    got: `version ${String(version)} of the protocol`,
    expected: `version ${PROTOCOL_VERSION}`,
    remedy: 'Both sides need the same version of Weft.',
  });
}

function notSealed(): AccessError {
  return new AccessError({
    where: 'beginning of a remote session',
    got: 'a client that does not encrypt',
    expected: 'one that does',
    remedy: 'Connect with the option `encrypt`.',
  });
}

export function stranger(): AccessError {
  return new AccessError({
    where: 'beginning of a remote session',
    got: 'another token',
    expected: 'the token that both sides were given',
  });
}
