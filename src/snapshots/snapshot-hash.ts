/** Where a snapshot has its own hash, see `docs/snapshots.md`. */
const HASH_BEGIN = 32;
const HASH_END = 64;

/** The hash that the bytes of a snapshot tell, as text. */
export function snapshotHash(bytes: Uint8Array): string {
  return bytes.subarray(HASH_BEGIN, HASH_END).join();
}
