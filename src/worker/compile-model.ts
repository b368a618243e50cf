import { concatenate } from '../core/concatenate.ts';
import type { DataBlock } from '../bytecode/executable-reader.ts';
import type { Executable } from '../bytecode/executable-file.ts';
import { DEFAULT_BLOCK_BYTE_LENGTH } from '../bytecode/file-format.ts';
import { platformSha256 } from '../core/platform-sha256.ts';
import { checkLooksLikeOnnx } from './check-looks-like-onnx.ts';
import { importCompiler } from './import-compiler.ts';
import type { LoadContext, LoadedProgram } from './load-program.ts';
import type { PeekedSource } from './open-source.ts';
import type { LoadRequest } from './protocol.ts';
import { SiblingFiles } from './sibling-files.ts';

/** A source that is no executable. */
export interface ModelSource extends PeekedSource {
  /** Names it in messages. */
  readonly where: string;
}

/**
 * Reads an ONNX model to its end and compiles it. Rejects with FormatError, DownloadError or
 * UnsupportedError. What loads executables only has no use for this file.
 */
export async function compileModel(
  { head, stream, where }: ModelSource,
  { source, dims, dispatch }: Pick<LoadRequest, 'source' | 'dims' | 'dispatch'>,
  { signal, onProgress }: LoadContext,
): Promise<LoadedProgram> {
  checkLooksLikeOnnx(head, where);
  const [bytes, { compileOnnx, loadExternalData }] = await Promise.all([
    readAll(stream),
    importCompiler(),
  ]);
  signal.throwIfAborted();
  const files = new SiblingFiles(source, signal);
  const externalData = await loadExternalData(bytes, (path, range) => files.read(path, range));
  const executable = compileOnnx(bytes, {
    dims,
    dispatch,
    externalData,
    onProgress: (loaded, total) => onProgress({ phase: 'compile', loaded, total }),
  });
  // Whoever builds an executable verifies it.
  onProgress({ phase: 'verify', loaded: 1, total: 1 });
  signal.throwIfAborted();
  // What is kept for listings must not hold the weights.
  const { data: _, ...program } = executable;
  const hashes: Uint8Array[] = [];
  const dataHashes = { blockByteLength: DEFAULT_BLOCK_BYTE_LENGTH, hashes };
  return { executable: program, blocks: blocksOf(executable, hashes), dataHashes };
}

/** Snapshots need the hashes, which are made while others work on the blocks. */
async function* blocksOf(
  executable: Executable,
  hashes: Uint8Array[],
): AsyncGenerator<DataBlock, void> {
  let last: Promise<unknown> = Promise.resolve();
  for (const block of executable.blocks()) {
    await last;
    last = platformSha256(block.bytes).then((hash) => hashes.push(hash));
    yield block;
  }
  await last;
}

/** All bytes of a stream. */
export async function readAll(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    chunks.push(next.value);
  }
  return concatenate(chunks);
}
