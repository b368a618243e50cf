import { UnsupportedError } from '../../core/errors.ts';
import type { SealKeys } from '../channels/sealed-channel.ts';

const PUBLIC_BYTE_LENGTH = 32;
const X25519 = { name: 'X25519' };

/** A key pair of one connection; the private half never leaves WebCrypto. */
export interface EphemeralKeys {
  readonly privateKey: CryptoKey;
  readonly publicBytes: Uint8Array;
}

/** Rejects with UnsupportedError where WebCrypto has no X25519. */
export async function makeEphemeralKeys(): Promise<EphemeralKeys> {
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

export function isPublicKey(bytes: unknown): bytes is Uint8Array {
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
export async function agreeOnKeys({ mine, theirs, role, salt }: Agreement): Promise<SealKeys> {
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
