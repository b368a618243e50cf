import { Executable } from '../../compiler/compile.ts';
import { checkOptions, type OptionKinds, requireBytes } from '../../core/check-options.ts';
import {
  type CompileOnnxAsyncOptions,
  compileInTurns,
  compileSmallInTurns,
} from './compile-in-turns.ts';
import { ONNX_OPTIONS } from './compile-onnx.ts';

export type { CompileOnnxAsyncOptions, CompileOnnxOptions } from './compile-in-turns.ts';

const { externalData: _, ...kinds } = ONNX_OPTIONS;
const ASYNC_OPTIONS: OptionKinds<CompileOnnxAsyncOptions> = {
  ...kinds,
  onPlace: 'function',
  signal: 'signal',
  read: 'function',
  typeOf: 'function',
};

/**
 * `compileOnnx` for a thread that others wait for: between two passes the event loop gets its
 * turn. Rejects as that throws, with what `read` rejects with, and with the signal's reason.
 */
export async function compileOnnxAsync(
  bytes: Uint8Array,
  options: CompileOnnxAsyncOptions = {},
): Promise<Executable> {
  checkOptions<CompileOnnxAsyncOptions>('compileOnnxAsync', options, ASYNC_OPTIONS);
  requireBytes('compileOnnxAsync', bytes);
  return Executable.of(await compileInTurns(bytes, options));
}

/**
 * {@link compileOnnxAsync} of a small model, for a thread that must not be held up: undefined as soon
 * as it takes more than a small one, or files beside it.
 */
export async function compileSmallOnnx(
  bytes: Uint8Array,
  options: Omit<CompileOnnxAsyncOptions, 'read'> = {},
): Promise<Executable | undefined> {
  checkOptions<CompileOnnxAsyncOptions>('compileSmallOnnx', options, ASYNC_OPTIONS);
  requireBytes('compileSmallOnnx', bytes);
  const program = await compileSmallInTurns(bytes, options);
  return program && Executable.of(program);
}
