/**
 * The SHA-256 of some bytes by the platform, which is many times as fast as JavaScript. Insecure
 * contexts have none there: for them the library is loaded.
 */
export async function platformSha256(bytes: Uint8Array): Promise<Uint8Array> {
  const { subtle } = globalThis.crypto as Partial<Crypto>;
  if (subtle === undefined) {
    const { sha256 } = await import('./software-sha256.ts');
    return sha256(bytes);
  }
  const { buffer, byteOffset, byteLength } = bytes;
  const view =
    buffer instanceof ArrayBuffer
      ? new Uint8Array(buffer, byteOffset, byteLength)
      : new Uint8Array(bytes);
  return new Uint8Array(await subtle.digest('SHA-256', view));
}
