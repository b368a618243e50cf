import { otherFormat } from '../../core/bytes/sniff.ts';
import { looksLikeExecutable } from '../../bytecode/file/file-format.ts';
import { UsageError } from '../../core/errors.ts';
import { requireOwnHashes, SMALL_FILES } from '../../core/bytes/require-own-hashes.ts';
import { streamOf } from '../../downloads/range-file.ts';
import type { LoadContext, LoadedProgram } from '../host/loaded-program.ts';
import type { LoadRequest } from '../protocol/load-request.ts';
import type { FilesSource } from '../protocol/wire-source.ts';
import { SourceFiles } from './source-files.ts';

interface FilesContext extends LoadContext {
  /** Loads a program from another kind of source. */
  readonly load: (request: LoadRequest, context: LoadContext) => Promise<LoadedProgram>;
}

/**
 * Reads a program from a file that is kept, or compiles a language model whose files the compiler's thread reads.
 * Rejects as `loadProgram` does, and with StorageError.
 */
export async function loadFiles(
  source: FilesSource,
  request: LoadRequest,
  { load, ...context }: FilesContext,
): Promise<LoadedProgram> {
  const { text } = source;
  if (text === undefined || /\.weft$/i.test(new SourceFiles(source, context.signal).name)) {
    return loadStream(source, request, { load, ...context });
  }
  if (context.tables !== undefined) {
    const got = 'operators, importers or functions of your own';
    throw new UsageError({ where: source.url, got, expected: 'a language model without any' });
  }
  const { compileText } = await import('../compile/compile-text.ts');
  return compileText({ ...source, text }, request, context);
}

/** Reads the file from its begin to its end, as other sources are. */
async function loadStream(
  source: FilesSource,
  request: LoadRequest,
  { load, ...context }: FilesContext,
): Promise<LoadedProgram> {
  const files = new SourceFiles(source, context.signal);
  const file = await files.get(files.name);
  const { byteLength, url } = file;
  const { onProgress } = context;
  let loaded = 0;
  await file.verify((count) => {
    loaded += count;
    onProgress({ phase: 'download', loaded, total: byteLength });
  });
  const head = await file.read(0, 64);
  // A model tells its other files when it is compiled.
  const isModule = head[0] === 0x7b && otherFormat(head) === undefined;
  if (looksLikeExecutable(head) || isModule) {
    requireOwnHashes(source.integrity, [files.name, ...(source.text ? SMALL_FILES : [])]);
  }
  const http = { url, status: 200, statusText: '', byteLength };
  const stream = streamOf(file);
  const order = { ...request, source: { kind: 'stream', stream, http, files: source } as const };
  if (loaded === 0) return load(order, context);
  // All bytes came while they were checked.
  const report: LoadContext['onProgress'] = (progress) => {
    if (progress.phase !== 'download') onProgress(progress);
  };
  return load(order, { ...context, onProgress: report });
}
