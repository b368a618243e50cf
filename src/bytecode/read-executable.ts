import { sha256 } from '@noble/hashes/sha2.js';
import { DataPadding } from './data-padding.ts';
import type { ExecutableData } from './executable.ts';
import { checkHash, hashedHead, readHeader } from './file-head.ts';
import { blockPlace, checkFileLength, parseHead } from './parse-head.ts';

/**
 * Reads, checks and verifies a whole `.weft` file. The data section of the result is a view of
 * `bytes`, so that weights are not copied. Throws FormatError or VerifyError.
 */
export function readExecutable(bytes: Uint8Array): {
  program: ExecutableData;
  data: Uint8Array;
} {
  const header = readHeader(bytes);
  checkFileLength(header, bytes.byteLength);
  const head = bytes.subarray(0, header.headByteLength);
  const { program, blockHashes } = parseHead(head, header, sha256(hashedHead(head)));
  const data = bytes.subarray(header.headByteLength);
  for (const [index, expectedHash] of blockHashes.entries()) {
    const start = index * header.blockByteLength;
    const block = data.subarray(start, start + header.blockByteLength);
    checkHash(sha256(block), expectedHash, blockPlace(index, header));
  }
  new DataPadding(program).check(data, 0);
  return { program, data };
}
