// Loaded for files whose hash was given: the platform hashes only what is in memory at once.
export { sha256, sha384, sha512 } from '@noble/hashes/sha2.js';
