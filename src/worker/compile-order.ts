import type { Executable } from '../bytecode/executable-file.ts';
import type { CompileOrder } from './compile-protocol.ts';
import { importCompiler } from './import-compiler.ts';
import type { OwnTables } from './protocol.ts';
import { SiblingFiles } from './sibling-files.ts';

export interface CompileContext {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
  readonly onTime?: (milliseconds: number) => void;
  readonly onPlace?: (place: string) => void;
  readonly tables?: OwnTables | undefined;
}

/** Compiles a model in this thread if it is a small one. */
export async function compileSmallOrder(
  { bytes, dims, dispatch, devices, rates, check }: CompileOrder,
  { signal, onProgress, tables }: CompileContext,
): Promise<Executable | undefined> {
  const { compileSmallOnnx } = await importCompiler();
  const order = { dims, dispatch, devices, rates, check };
  return compileSmallOnnx(bytes, { ...order, signal, onProgress, ...tables });
}

/** Compiles a model in this thread. Others get their turn between passes. */
export async function compileOrder(
  { bytes, url, ...options }: CompileOrder,
  { tables, ...context }: CompileContext,
): Promise<Executable> {
  const { compileOnnxAsync } = await importCompiler();
  const files = new SiblingFiles(url, context.signal);
  const read = files.read.bind(files);
  return compileOnnxAsync(bytes, { ...options, ...context, ...tables, read });
}
