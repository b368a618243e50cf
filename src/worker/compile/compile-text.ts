import { untilAborted } from '../../core/async/until-aborted.ts';
import type { LoadContext, LoadedProgram } from '../host/loaded-program.ts';
import type { LoadRequest } from '../protocol/load-request.ts';
import type { CompileContext } from './compile-context.ts';
import { compiledHere, loadedProgram } from './compile-model.ts';
import { compileAnyOrder } from './compile-order.ts';
import type { TextOrder } from './compile-protocol.ts';
import { RemoteCompiler } from './remote-compiler.ts';

/** Compiles a language model, whose files the compiler's thread reads. Rejects as `compileModel` does. */
export async function compileText(
  model: TextOrder['model'],
  { compileLimits }: LoadRequest,
  { signal, onProgress }: LoadContext,
): Promise<LoadedProgram> {
  const context: CompileContext = {
    signal,
    onProgress: (loaded, total) => onProgress({ phase: 'compile', loaded, total }),
    onDownload: (loaded, total) => onProgress({ phase: 'download', loaded, total }),
  };
  const order = { model, compileLimits };
  const remote = new RemoteCompiler();
  let isReady = false;
  try {
    isReady = await untilAborted(remote.ready, signal);
  } finally {
    if (!isReady) remote.close();
  }
  const compiled = isReady
    ? await remote.compile(order, context)
    : compiledHere(await compileAnyOrder(order, context));
  onProgress({ phase: 'verify', loaded: 1, total: 1 });
  return loadedProgram(compiled);
}
