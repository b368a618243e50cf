import { sha256 } from '@noble/hashes/sha2.js';
import type { DataHashes } from '../../bytecode/file/executable-reader.ts';
import type { ExecutableData } from '../../bytecode/executable.ts';
import { DEFAULT_BLOCK_BYTE_LENGTH } from '../../bytecode/file/file-format.ts';
import { serializeHead, views } from '../../bytecode/file/serialize.ts';
import type { DataBlock } from '../../bytecode/file/data-layout.ts';
import { UnsupportedError } from '../../core/errors.ts';

/** Says which program a snapshot belongs to. */
interface ProgramHash {
  /** Bytes of one block of the data section, for the hash covers the hashes of blocks. */
  readonly blockByteLength: number;
  /** SHA-256 of all of the executable's file but its data section. */
  readonly hash: Uint8Array;
}

type Program = ExecutableData & {
  readonly data?: Uint8Array;
  blocks?(): Iterable<DataBlock>;
};

const known = new WeakMap<ExecutableData, DataHashes>();

/**
 * The hash of a program with everything in its data section. `given` are the hashes of its blocks as
 * they were in its file; without them the data must be in memory. Throws UnsupportedError otherwise.
 */
export function programHash(
  program: Program,
  given: DataHashes | undefined,
  blockByteLength = given?.blockByteLength ?? DEFAULT_BLOCK_BYTE_LENGTH,
): ProgramHash {
  const { hashes } = given ?? hashesOf(program, blockByteLength);
  const used = given?.blockByteLength ?? blockByteLength;
  return { blockByteLength: used, hash: sha256(serializeHead(program, hashes, used)) };
}

function hashesOf(program: Program, blockByteLength: number): DataHashes {
  const cached = known.get(program);
  if (cached?.blockByteLength === blockByteLength) return cached;
  const hashes: Uint8Array[] = [];
  for (const { bytes } of blocksOf(program, blockByteLength)) hashes.push(sha256(bytes));
  const found = { blockByteLength, hashes };
  known.set(program, found);
  return found;
}

function blocksOf(program: Program, blockByteLength: number): Iterable<DataBlock> {
  const { data, dataByteLength } = program;
  if (dataByteLength === 0) return [];
  if (data?.byteLength === dataByteLength) return views(data, blockByteLength);
  if (program.blocks !== undefined && blockByteLength === DEFAULT_BLOCK_BYTE_LENGTH) {
    return program.blocks();
  }
  throw new UnsupportedError({
    where: 'snapshot',
    got: 'a program whose weights are known to the device only',
    expected: 'the hashes of its blocks',
    remedy: 'Pass `dataHashes` of ExecutableReader beside `dataBlocks`.',
  });
}
