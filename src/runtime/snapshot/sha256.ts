import { sha256 as inJavaScript } from '@noble/hashes/sha2.js';

/** SHA-256 by the platform, which is many times as fast; it has none in insecure contexts. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const { subtle } = globalThis.crypto as Partial<Crypto>;
  if (subtle === undefined) return inJavaScript(bytes);
  return new Uint8Array(await subtle.digest('SHA-256', bytes));
}
