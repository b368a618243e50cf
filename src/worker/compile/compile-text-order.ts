import type { Assembled } from '../../bytecode/build/draft.ts';
import type { CompileContext } from './compile-context.ts';
import type { TextOrder } from './compile-protocol.ts';
import { SourceFiles } from '../sources/source-files.ts';

/** Reads and compiles a language model in this thread; others get their turn between passes. */
export async function compileTextOrder(
  { model, compileLimits }: TextOrder,
  { signal, onProgress, onPlace, onDownload }: CompileContext,
): Promise<Assembled> {
  const { compileTextFiles } = await import('../../frontend/decoders/compile-text-files.ts');
  // What is read ends with the compiling: a model may be refused in the middle of its download.
  const reading = new AbortController();
  const files = new SourceFiles(model, AbortSignal.any([signal, reading.signal]));
  const reports = { onProgress, onPlace, onDownload };
  try {
    return await compileTextFiles(files, { ...model.text, ...reports, signal, compileLimits });
  } finally {
    reading.abort();
    files.close();
  }
}
