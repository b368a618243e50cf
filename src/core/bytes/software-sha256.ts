// Loaded where the platform has no SHA-256: code that computes it in any case imports the library.
export { sha256 } from '@noble/hashes/sha2.js';
