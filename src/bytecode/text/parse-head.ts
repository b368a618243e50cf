import { FormatError } from '../../core/errors.ts';
import { deserializeProgram } from '../file/deserialize.ts';
import type { ExecutableData } from '../executable.ts';
import { checkHash, type FileHeader, readBlockHashes, readSections } from '../file/file-head.ts';
import { verifyExecutable } from '../verify/verify.ts';

/** All of a file but its data section, checked and verified. */
export interface FileHead {
  readonly header: FileHeader;
  readonly program: ExecutableData;
  readonly blockHashes: readonly Uint8Array[];
}

/**
 * Reads the head of a file: exactly `headByteLength` bytes, of which `hash` is the SHA-256 (see
 * `hashedHead`). Throws FormatError or VerifyError.
 */
export function parseHead(head: Uint8Array, header: FileHeader, hash: Uint8Array): FileHead {
  checkHash(hash, header.headHash, 'head');
  const sections = readSections(head, header);
  const blockHashes = readBlockHashes(sections, header);
  const program = deserializeProgram(sections, header);
  verifyExecutable(program);
  return { header, program, blockHashes };
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
    remedy: 'The file is truncated or damaged; fetch or write it again.',
  });
}

/** Where block `index` of the data section lies in the file, for errors. */
export function blockPlace(index: number, { headByteLength, blockByteLength }: FileHeader): string {
  return `data block ${index}, byte ${headByteLength + index * blockByteLength}`;
}
