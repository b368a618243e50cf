import { checkOptions, type OptionKinds } from '../../core/check-options.ts';
import { COMPILE_OPTIONS, Executable, PARTS } from '../../compiler/compile.ts';
import { compileInSteps, finish } from '../../compiler/compile-in-steps.ts';
import { CompileBudget } from '../../compiler/ir/compile-budget.ts';
import type { CompileOnnxOptions } from './compile-in-turns.ts';
import { IMPORT_OPTIONS, importWithin } from './import-onnx.ts';
import type { ModelFormat } from '../model-format.ts';

/** Kinds of {@link CompileOnnxOptions}. */
export const ONNX_OPTIONS: OptionKinds<CompileOnnxOptions> = {
  ...COMPILE_OPTIONS,
  ...IMPORT_OPTIONS,
};

/**
 * Compiles an ONNX model to an executable whose function `main` has the graph's inputs and outputs.
 *
 * Throws FormatError for bytes that are no valid model, UnsupportedError that lists every node that
 * cannot be compiled, CompileLimitError at a limit.
 */
export function compileOnnx(bytes: Uint8Array, options: CompileOnnxOptions = {}): Executable {
  checkOptions<CompileOnnxOptions>('compileOnnx', options, ONNX_OPTIONS);
  return compileImported(bytes, options, importWithin);
}

/** Compiles a model of the format that `read` imports. */
export function compileImported(
  bytes: Uint8Array,
  options: CompileOnnxOptions,
  read: ModelFormat['importWithin'],
): Executable {
  const budget = new CompileBudget(options.compileLimits);
  const module = budget.run(() => read(bytes, options));
  // The importer binds sizes, and refuses those that name nothing.
  const passes = compileInSteps(module, { ...options, dims: undefined }, PARTS);
  return Executable.of(finish(passes, (step) => budget.run(step)));
}
