import type { Executable } from '../../compiler/compile.ts';
import { CompileBudget } from '../../compiler/ir/compile-budget.ts';
import type { Module } from '../../compiler/ir/expr.ts';
import { checkOptions } from '../../core/check-options.ts';
import type { CompileOnnxOptions } from '../onnx/compile-in-turns.ts';
import { compileImported, ONNX_OPTIONS } from '../onnx/compile-onnx.ts';
import { IMPORT_OPTIONS, type ImportOptions } from '../onnx/import-onnx.ts';
import { importWithin } from './import-tflite.ts';

/**
 * Reads a TensorFlow Lite model, or the model of a `.task` bundle, into a module whose `main` takes the first graph's inputs and
 * gives its outputs, under the names that a signature gives them, else those of its tensors.
 *
 * Throws FormatError for bytes that are no valid model, and one UnsupportedError that lists every
 * operator that cannot be imported, CompileLimitError at a limit.
 */
export function importTflite(bytes: Uint8Array, options: ImportOptions = {}): Module {
  checkOptions<ImportOptions>('importTflite', options, IMPORT_OPTIONS);
  return new CompileBudget(options.compileLimits).run(() => importWithin(bytes, options));
}

/** Compiles what {@link importTflite} makes of a model. Throws what that throws, and CompileLimitError at a limit. */
export function compileTflite(bytes: Uint8Array, options: CompileOnnxOptions = {}): Executable {
  checkOptions<CompileOnnxOptions>('compileTflite', options, ONNX_OPTIONS);
  return compileImported(bytes, options, importWithin);
}
