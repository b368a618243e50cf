import { ExecutableReader } from '../../bytecode/file/executable-reader.ts';
import { looksLikeExecutable } from '../../bytecode/file/file-format.ts';
import { UsageError } from '../../core/errors.ts';
import { importCompiler } from '../compile/import-compiler.ts';
import type { LoadContext, LoadedProgram } from '../host/loaded-program.ts';
import { type OpenableSource, openSource, peek } from './open-source.ts';
import type { LoadRequest } from '../protocol/load-request.ts';

/** Enough to tell what a file is that is no model. */
const HEAD_BYTE_LENGTH = 256;

/**
 * Reads an executable up to its data, or a model or a module of the IR in JSON to its end, which it compiles. Rejects with
 * DownloadError, FormatError, VerifyError, UnsupportedError, CompileLimitError or UsageError.
 */
export async function loadProgram(
  request: LoadRequest,
  context: LoadContext,
): Promise<LoadedProgram> {
  const { source, dims, dispatch, devices, rates, compileLimits, check, nodeTypes } = request;
  const { signal, onProgress, tables, askType } = context;
  if (source.kind === 'files') {
    const { loadFiles } = await import('./load-files.ts');
    return loadFiles(source, request, { ...context, load: loadProgram });
  }
  // The compiler is files of its own, which come while the model does.
  if (source.kind === 'url' && source.url.endsWith('.onnx')) {
    Promise.all([importCompiler(), importModelLoader()]).catch(() => undefined);
  }
  // A server of devices reads what it has stored itself.
  const opened = await openSource(source as OpenableSource, signal);
  const total = opened.byteLength;
  onProgress({ phase: 'download', loaded: 0, total });
  const { head, stream } = await peek(opened, {
    headByteLength: HEAD_BYTE_LENGTH,
    signal,
    onBytes: (loaded) => onProgress({ phase: 'download', loaded, total }),
  });
  if (looksLikeExecutable(head)) {
    if (dispatch !== undefined) throw alreadyCompiled(opened.where, 'dispatch');
    if (devices !== undefined) throw alreadyCompiled(opened.where, 'devices');
    if (check !== undefined) throw alreadyCompiled(opened.where, 'check');
    if (Object.keys(dims).length > 0) throw alreadyCompiled(opened.where, 'dims');
    onProgress({ phase: 'verify', loaded: 0, total: 1 });
    const reader = await ExecutableReader.open(stream, { signal, byteLength: total });
    onProgress({ phase: 'verify', loaded: 1, total: 1 });
    const { executable, dataHashes } = reader;
    return { executable, blocks: reader.blocks(), dataHashes };
  }
  const model = { head, stream, where: opened.where, byteLength: total };
  const order = { source, dims, dispatch, devices, rates, compileLimits, check, nodeTypes };
  const loading = { signal, onProgress, tables, askType };
  // JSON begins so, and no model in ONNX does.
  if (head[0] === 0x7b) {
    const { compileJson } = await import('../compile/compile-json.ts');
    return compileJson(model, order, loading);
  }
  const { compileModel } = await importModelLoader();
  return compileModel(model, order, loading);
}

function importModelLoader() {
  return import('../compile/compile-model.ts');
}

function alreadyCompiled(where: string, option: string): UsageError {
  return new UsageError({
    where,
    got: `an executable with the option ${option}`,
    expected: 'an ONNX model',
    remedy: `Compile the model with the option ${option}, or load it without.`,
  });
}
