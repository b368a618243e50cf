import type { Executable } from '../bytecode/executable-file.ts';
import type { CompileOrder } from './compile-protocol.ts';
import { importCompiler } from './import-compiler.ts';
import { SiblingFiles } from './sibling-files.ts';

export interface CompileContext {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
  readonly onTime?: (milliseconds: number) => void;
  readonly onPlace?: (place: string) => void;
}

/** Compiles a model in this thread if it is a small one. */
export async function compileSmallOrder(
  { bytes, dims, dispatch, check }: CompileOrder,
  { signal, onProgress }: CompileContext,
): Promise<Executable | undefined> {
  const { compileSmallOnnx } = await importCompiler();
  return compileSmallOnnx(bytes, { dims, dispatch, check, signal, onProgress });
}

/** Compiles a model in this thread. Others get their turn between passes. */
export async function compileOrder(
  { bytes, url, ...options }: CompileOrder,
  context: CompileContext,
): Promise<Executable> {
  const { compileOnnxAsync } = await importCompiler();
  const files = new SiblingFiles(url, context.signal);
  const read = files.read.bind(files);
  return compileOnnxAsync(bytes, { ...options, ...context, read });
}
