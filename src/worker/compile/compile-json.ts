import type { CompileLimits } from '../../core/limits/compile-limits.ts';
import { compiledHere, compileOnce, loadedProgram, readAll } from './compile-model.ts';
import type { CompileOrder } from './compile-protocol.ts';
import type { LoadContext, LoadedProgram } from '../host/loaded-program.ts';
import type { Dims } from '../protocol/dispatch-sizes.ts';
import { RemoteCompiler } from './remote-compiler.ts';

/** How a module is compiled. */
interface JsonOrder extends LoadContext {
  /** The name of the module in messages. */
  readonly where: string;
  readonly dims: Dims;
  readonly compileLimits?: CompileLimits | undefined;
}

/**
 * Reads a module of the IR in JSON and compiles it: a small one in this thread, with turns for others between passes.
 * Rejects with FormatError, TypeCheckError, ShapeError, UnsupportedError or CompileLimitError.
 */
export async function compileJson(
  stream: ReadableStream<Uint8Array>,
  { where, dims, compileLimits, signal, onProgress, tables }: JsonOrder,
): Promise<LoadedProgram> {
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
