import type { DataBlock } from '../bytecode/executable-reader.ts';
import type { Executable } from '../bytecode/executable-file.ts';
import { checkLooksLikeOnnx } from './check-looks-like-onnx.ts';
import { importCompiler } from './import-compiler.ts';
import type { LoadContext, LoadedProgram } from './load-program.ts';
import { concatenate, type PeekedSource } from './open-source.ts';
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
  return { executable: program, blocks: blocksOf(executable) };
}

async function* blocksOf(executable: Executable): AsyncGenerator<DataBlock, void> {
  yield* executable.blocks();
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
