import { otherFormat } from '../../core/bytes/sniff.ts';
import {
  compiledHere,
  compileModel,
  compileOnce,
  loadedProgram,
  readAll,
} from './compile-model.ts';
import type { CompileOrder } from './compile-protocol.ts';
import type { LoadContext, LoadedProgram } from '../host/loaded-program.ts';
import { RemoteCompiler } from './remote-compiler.ts';

/**
 * Reads a module of the IR in JSON and compiles it: a small one in this thread, with turns for others between passes. A model of
 * TensorFlow.js is JSON too.
 * Rejects with FormatError, TypeCheckError, ShapeError, UnsupportedError or CompileLimitError.
 */
export async function compileJson(
  model: Parameters<typeof compileModel>[0],
  given: Parameters<typeof compileModel>[1],
  loading: LoadContext,
): Promise<LoadedProgram> {
  if (otherFormat(model.head) !== undefined) return compileModel(model, given, loading);
  const { stream, where } = model;
  const { dims, compileLimits } = given;
  const { signal, onProgress, tables } = loading;
  const { compileSmallModule } = await import('../../frontend/compile-module.ts');
  const bytes = await readAll(stream);
  signal.throwIfAborted();
  const context = {
    signal,
    tables,
    onProgress: (loaded: number, total: number) => onProgress({ phase: 'compile', loaded, total }),
  };
  const options = { dims, compileLimits };
  const { operators } = tables ?? {};
  const small = await compileSmallModule(bytes, { where, ...options, ...context, operators });
  const order: CompileOrder = { bytes, module: where, url: undefined, ...options };
  const compiled =
    small === undefined
      ? await compileOnce(order, context, {
          remote: new RemoteCompiler(tables?.isInThreads ?? true),
          isOwn: false,
        })
      : compiledHere(small);
  onProgress({ phase: 'verify', loaded: 1, total: 1 });
  return { ...loadedProgram(compiled), tables };
}
