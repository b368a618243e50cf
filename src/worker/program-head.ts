import type { ExecutableData } from '../bytecode/executable.ts';
import { DEFAULT_BLOCK_BYTE_LENGTH } from '../bytecode/file-format.ts';
import { serializeHead } from '../bytecode/serialize.ts';

const HASH_BYTE_LENGTH = 32;

/**
 * The `.weft` file of a program up to its data section. The hashes of its blocks are zeros: the weights may be on the
 * device only, and whoever reads a program without them has nothing to check.
 */
export function programHead(program: ExecutableData): Uint8Array<ArrayBuffer> {
  const length = Math.ceil(program.dataByteLength / DEFAULT_BLOCK_BYTE_LENGTH);
  const hashes = Array.from({ length }, () => new Uint8Array(HASH_BYTE_LENGTH));
  return serializeHead(program, hashes, DEFAULT_BLOCK_BYTE_LENGTH).slice();
}
