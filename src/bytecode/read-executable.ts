import { sha256 } from '@noble/hashes/sha2.js';
import { FormatError } from '../core/errors.ts';
import { DataPadding } from './data-padding.ts';
import { deserializeProgram } from './deserialize.ts';
import type { ExecutableData } from './executable.ts';
import {
  checkHash,
  checkHeadHash,
  type FileHeader,
  readBlockHashes,
  readHeader,
  readSections,
} from './file-head.ts';
import { verifyExecutable } from './verify.ts';

/** All of a file but its data section, checked and verified. */
export interface FileHead {
  readonly header: FileHeader;
  readonly program: ExecutableData;
  readonly blockHashes: readonly Uint8Array[];
}

/** Reads the head of a file: exactly `headByteLength` bytes. Throws FormatError or VerifyError. */
export function readHead(head: Uint8Array): FileHead {
  const header = readHeader(head);
  checkHeadHash(head, header);
  const sections = readSections(head, header);
  const blockHashes = readBlockHashes(sections, header);
  const program = deserializeProgram(sections, header);
  verifyExecutable(program);
  return { header, program, blockHashes };
}

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
  const { program, blockHashes } = readHead(bytes.subarray(0, header.headByteLength));
  const data = bytes.subarray(header.headByteLength);
  for (const [index, expectedHash] of blockHashes.entries()) {
    checkBlock(data.subarray(index * header.blockByteLength), { index, header, expectedHash });
  }
  new DataPadding(program).check(data, 0);
  return { program, data };
}

/** Throws FormatError for a file of another length than its header says. */
export function checkFileLength(
  { headByteLength, dataByteLength }: FileHeader,
  byteLength: number,
): void {
  const expected = headByteLength + dataByteLength;
  if (byteLength === expected) return;
  throw new FormatError({
    where: `byte ${Math.min(byteLength, expected)}`,
    got: `a file of ${byteLength} bytes`,
    expected: `${expected}, as its header says`,
    remedy: 'The file is cut short or damaged; fetch or write it again.',
  });
}

interface BlockCheck {
  readonly index: number;
  readonly header: FileHeader;
  readonly expectedHash: Uint8Array;
  /** The block's SHA-256 where it is known. */
  readonly hash?: Uint8Array | undefined;
}

/**
 * Checks block `index`, which `bytes` begins with, against its hash, and returns it cut to its
 * length. Throws FormatError.
 */
export function checkBlock(
  bytes: Uint8Array,
  { index, header, expectedHash, hash }: BlockCheck,
): Uint8Array {
  const block = bytes.subarray(0, header.blockByteLength);
  const start = header.headByteLength + index * header.blockByteLength;
  checkHash(hash ?? sha256(block), expectedHash, `data block ${index}, byte ${start}`);
  return block;
}
