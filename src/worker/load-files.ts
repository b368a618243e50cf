import { DEFAULT_BLOCK_BYTE_LENGTH } from '../bytecode/file-format.ts';
import { UsageError } from '../core/errors.ts';
import { untilAborted } from '../core/until-aborted.ts';
import { streamOf } from '../downloads/range-file.ts';
import { compiledHere, hashed } from './compile-model.ts';
import type { CompileContext } from './compile-context.ts';
import { compileAnyOrder } from './compile-order.ts';
import type { LoadContext, LoadedProgram } from './loaded-program.ts';
import type { FilesSource, LoadRequest } from './protocol.ts';
import { type CompiledModel, RemoteCompiler } from './remote-compiler.ts';
import { SourceFiles } from './source-files.ts';

interface FilesContext extends LoadContext {
  /** Loads a program from another kind of source. */
  readonly load: (request: LoadRequest, context: LoadContext) => Promise<LoadedProgram>;
}

/**
 * Reads an executable from a file that is kept, or compiles a language model whose files the compiler's thread reads.
 * Rejects as `loadProgram` does, and with StorageError.
 */
export async function loadFiles(
  source: FilesSource,
  request: LoadRequest,
  { load, ...context }: FilesContext,
): Promise<LoadedProgram> {
  if (/\.weft$/i.test(new SourceFiles(source, context.signal).name)) {
    return loadExecutable(source, request, { load, ...context });
  }
  const { signal, onProgress, tables } = context;
  if (tables !== undefined) {
    const got = 'operators, importers or functions of your own';
    throw new UsageError({ where: source.url, got, expected: 'a language model without any' });
  }
  const { program, blocks } = await compile(source, request, {
    signal,
    onProgress: (loaded, total) => onProgress({ phase: 'compile', loaded, total }),
    onDownload: (loaded, total) => onProgress({ phase: 'download', loaded, total }),
  });
  // Whoever builds an executable verifies it.
  onProgress({ phase: 'verify', loaded: 1, total: 1 });
  const hashes: Uint8Array[] = [];
  const dataHashes = { blockByteLength: DEFAULT_BLOCK_BYTE_LENGTH, hashes };
  return { executable: program, blocks: hashed(blocks, hashes), dataHashes };
}

async function loadExecutable(
  source: FilesSource,
  request: LoadRequest,
  { load, ...context }: FilesContext,
): Promise<LoadedProgram> {
  const files = new SourceFiles(source, context.signal);
  const file = await files.get(files.name);
  await file.verify();
  const { byteLength, url } = file;
  const http = { url, status: 200, statusText: '', byteLength };
  const stream = streamOf(file);
  return load({ ...request, source: { kind: 'stream', stream, http } }, context);
}

/** In a thread of its own, or in this one where there are no others. */
async function compile(
  model: FilesSource,
  { compileLimits }: LoadRequest,
  context: CompileContext,
): Promise<CompiledModel> {
  const order = { model, compileLimits };
  const remote = new RemoteCompiler();
  let isReady = false;
  try {
    isReady = await untilAborted(remote.ready, context.signal);
  } finally {
    if (!isReady) remote.close();
  }
  return isReady
    ? remote.compile(order, context)
    : compiledHere(await compileAnyOrder(order, context));
}
