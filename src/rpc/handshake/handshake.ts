import type { Channel, Frame } from '../channels/channel.ts';
import { importToken } from './credentials.ts';
import {
  AccessError,
  errorFromWire,
  errorToWire,
  ProtocolError,
  RemoteLostError,
} from '../errors.ts';
import { decodeHead, encodeHead } from '../values/messages.ts';
import type { SealKeys } from '../channels/sealed-channel.ts';
import { malformed } from '../values/wire-values.ts';
import { UnsupportedError } from '../../core/errors.ts';

const PUBLIC_BYTE_LENGTH = 32;
const X25519 = { name: 'X25519' };

/** A key pair of one connection; the private half never leaves WebCrypto. */
interface EphemeralKeys {
  readonly privateKey: CryptoKey;
  readonly publicBytes: Uint8Array;
}

/** Rejects with UnsupportedError where WebCrypto has no X25519. */
async function makeEphemeralKeys(): Promise<EphemeralKeys> {
  try {
    const pair = (await crypto.subtle.generateKey(X25519, false, ['deriveBits'])) as CryptoKeyPair;
    const publicBytes = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey));
    return { privateKey: pair.privateKey, publicBytes };
  } catch (cause) {
    throw new UnsupportedError(
      {
        where: 'remote connection',
        got: 'an engine whose WebCrypto lacks X25519 for encryption',
        expected: 'Chrome 133, Firefox 130, Safari 17, Node 20 or later',
        remedy: 'Update it; without `encrypt` the connection is sent in clear.',
      },
      { cause },
    );
  }
}

function isPublicKey(bytes: unknown): bytes is Uint8Array {
  return bytes instanceof Uint8Array && bytes.byteLength === PUBLIC_BYTE_LENGTH;
}

interface Agreement {
  readonly mine: EphemeralKeys;
  readonly theirs: Uint8Array;
  readonly role: 'client' | 'server';
  /** An HMAC by the token of all that both sides said. */
  readonly salt: Uint8Array;
}

/**
 * A key of AES-GCM for each direction, from a secret that only the two sides can compute (RFC 7748),
 * bound to the token and to all that was said before. Private keys are forgotten after the connection, so
 * that whoever learns the token later reads nothing of it.
 */
async function agreeOnKeys({ mine, theirs, role, salt }: Agreement): Promise<SealKeys> {
  const peer = await crypto.subtle.importKey('raw', new Uint8Array(theirs), X25519, false, []);
  const shared = await crypto.subtle.deriveBits({ ...X25519, public: peer }, mine.privateKey, 256);
  const secret = await crypto.subtle.importKey('raw', shared, 'HKDF', false, ['deriveKey']);
  const derive = (sender: string, use: 'encrypt' | 'decrypt'): Promise<CryptoKey> => {
    const info = new TextEncoder().encode(`weft-rpc sealed by the ${sender}`);
    const algorithm = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(salt), info };
    return crypto.subtle.deriveKey(algorithm, secret, { name: 'AES-GCM', length: 256 }, false, [
      use,
    ]);
  };
  const other = role === 'client' ? 'server' : 'client';
  return { outgoing: await derive(role, 'encrypt'), incoming: await derive(other, 'decrypt') };
}

const PROTOCOL = 'weft-rpc';
const PROTOCOL_VERSION = 3;
/** Of what is signed, which is the same for relays of the version before. */
const PROOF_VERSION = 2;
const NONCE_BYTE_LENGTH = 32;
/** Nobody has proved anything yet. */
const MAX_BYTE_LENGTH = 4096;
const MAX_NAME_LENGTH = 100;

interface HandshakeOptions {
  readonly token: string;
  readonly name: string;
  readonly timeoutMs: number;
  /** The side that connects asks for it; the serving side insists. */
  readonly isSealed: boolean;
}

interface Peer {
  /** The other side's name for itself. */
  readonly name: string;
  readonly keys: SealKeys | undefined;
}

/** All that both sides say before they prove anything; anything else that arrives proves nothing. */
interface Transcript {
  readonly nonces: readonly [client: Uint8Array, server: Uint8Array];
  readonly clientName: string;
  /** Public keys; empty in a connection that is not sealed. */
  readonly keys: readonly [client: Uint8Array, server: Uint8Array];
}

const NO_KEY = new Uint8Array(0);

/**
 * The side that connects. Both sides prove that they know the token by an HMAC over all that was said,
 * two fresh random numbers among it, first this one, so that a stranger who calls learns nothing.
 * Rejects with AccessError, and with UnsupportedError where it cannot encrypt.
 */
export async function introduce(channel: Channel, options: HandshakeOptions): Promise<Peer> {
  const token = await importToken(options.token, 'session');
  const mine = options.isSealed ? await makeEphemeralKeys() : undefined;
  return timed(channel, options.timeoutMs, async () => {
    const nonce = makeNonce();
    const publicKey = mine?.publicBytes ?? NO_KEY;
    const hello = [PROTOCOL, PROTOCOL_VERSION, nonce, options.name, publicKey];
    channel.send({ head: encodeHead(hello) });
    const [theirs, theirKey] = await step(channel, 'challenge');
    const transcript: Transcript = {
      nonces: [nonce, checkBytes(theirs)],
      clientName: options.name,
      keys: [publicKey, checkKey(theirKey, options.isSealed)],
    };
    const said = partsOf(transcript);
    channel.send({ head: encodeHead(['proof', await sign(token, 'session client', said)]) });
    const [proof, name] = await step(channel, 'welcome');
    const answer = [...said, encodeText(checkName(name))];
    if (!(await verify(token, 'session server', { parts: answer, proof }))) throw stranger();
    return { name: checkName(name), keys: await sealKeys(token, 'client', { mine, transcript }) };
  });
}

/** The serving side. Rejects with AccessError, ProtocolError or RemoteLostError. */
export async function admit(channel: Channel, options: HandshakeOptions): Promise<Peer> {
  const token = await importToken(options.token, 'session');
  return timed(channel, options.timeoutMs, async () => {
    const [protocol, version, nonce, name, key] = readStep(await nextFrame(channel));
    if (protocol !== PROTOCOL) throw malformed('another protocol');
    if (version !== PROTOCOL_VERSION) throw wrongVersion(version);
    const isSealed = !(key instanceof Uint8Array && key.byteLength === 0);
    if (options.isSealed && !isSealed) throw notSealed();
    const mine = isSealed ? await makeEphemeralKeys() : undefined;
    const transcript: Transcript = {
      nonces: [checkBytes(nonce), makeNonce()],
      clientName: checkName(name),
      keys: [checkKey(key, isSealed), mine?.publicBytes ?? NO_KEY],
    };
    channel.send({ head: encodeHead(['challenge', transcript.nonces[1], transcript.keys[1]]) });
    const [proof] = await step(channel, 'proof');
    const said = partsOf(transcript);
    if (!(await verify(token, 'session client', { parts: said, proof }))) throw stranger();
    const answer = await sign(token, 'session server', [...said, encodeText(options.name)]);
    const keys = await sealKeys(token, 'server', { mine, transcript });
    channel.send({ head: encodeHead(['welcome', answer, options.name]) });
    return { name: checkName(name), keys };
  });
}

function partsOf({ nonces, clientName, keys }: Transcript): Uint8Array[] {
  return [...nonces, encodeText(clientName), ...keys];
}

export function encodeText(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function makeNonce(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(NONCE_BYTE_LENGTH));
}

/** Everything that is signed has a length, so that no two texts run together the same way. */
function statement(purpose: string, parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(encodeHead([PROTOCOL, PROOF_VERSION, purpose, ...parts]));
}

/** An HMAC of a statement for one purpose. */
export async function sign(
  key: CryptoKey,
  purpose: string,
  parts: readonly Uint8Array[],
): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, statement(purpose, parts)));
}

/** Undefined for a connection that is not sealed. */
async function sealKeys(
  token: CryptoKey,
  role: 'client' | 'server',
  {
    mine,
    transcript,
  }: { readonly mine: EphemeralKeys | undefined; readonly transcript: Transcript },
): Promise<SealKeys | undefined> {
  if (mine === undefined) return undefined;
  const salt = await sign(token, 'session keys', partsOf(transcript));
  const theirs = transcript.keys[role === 'client' ? 1 : 0];
  return agreeOnKeys({ mine, theirs, role, salt });
}

/** Compares in constant time. */
export async function verify(
  key: CryptoKey,
  purpose: string,
  { parts, proof }: { readonly parts: readonly Uint8Array[]; readonly proof: unknown },
): Promise<boolean> {
  const bytes = new Uint8Array(checkBytes(proof));
  return crypto.subtle.verify('HMAC', key, bytes, statement(purpose, parts));
}

/** The next frame, or the end of the channel. */
export function nextFrame(channel: Channel): Promise<Frame> {
  return new Promise((resolve, reject) => {
    channel.listen({
      frame: (frame) => {
        channel.listen(undefined);
        resolve(frame);
      },
      closed: (reason) => reject(new RemoteLostError(atBeginning(reason, 'an answer'))),
    });
  });
}

export function readStep({ head, body }: Frame): unknown[] {
  if (body !== undefined) throw malformed('tensors before the connection began');
  return decodeHead(head, MAX_BYTE_LENGTH);
}

/** A step of this name; one named `error` is the other side's refusal. */
async function step(channel: Channel, expected: string): Promise<unknown[]> {
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
    const error = new AccessError(atBeginning(`no answer in ${timeoutMs} ms`, 'the next step'));
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

/** A public key where the connection is sealed, nothing where it is not. */
function checkKey(key: unknown, isSealed: boolean): Uint8Array {
  if (isSealed ? isPublicKey(key) : key instanceof Uint8Array && key.byteLength === 0) {
    return key as Uint8Array;
  }
  throw malformed(isSealed ? 'no public key' : 'a key for a connection that is not encrypted');
}

function checkName(name: unknown): string {
  if (typeof name === 'string' && name.length <= MAX_NAME_LENGTH) return name;
  throw malformed('a name that is not a short text');
}

const atBeginning = (got: string, expected: string, remedy?: string) => ({
  where: 'beginning of a remote connection',
  got,
  expected,
  remedy,
});

function wrongVersion(version: unknown): ProtocolError {
  const got = `version ${String(version)} of the protocol`;
  const remedy = 'Both sides need the same version of Weft.';
  return new ProtocolError(atBeginning(got, `version ${PROTOCOL_VERSION}`, remedy));
}

function notSealed(): AccessError {
  const remedy = 'Connect with the option `encrypt`.';
  return new AccessError(atBeginning('a client that does not encrypt', 'one that does', remedy));
}

export function stranger(): AccessError {
  return new AccessError(atBeginning('another token', 'the token that both sides were given'));
}
