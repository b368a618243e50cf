import type { Executable } from '../../compiler/compile.ts';
import { checkOptions } from '../../core/check-options.ts';
import type { CompileOnnxOptions } from '../onnx/compile-in-turns.ts';
import { compileImported, ONNX_OPTIONS } from '../onnx/compile-onnx.ts';
import { importWithin } from './import-tflite.ts';

/**
 * Compiles a TensorFlow Lite model, or the model of a `.task` bundle, to an executable whose function `main` has the first graph's
 * inputs and outputs.
 *
 * Throws FormatError for bytes that are no valid model, UnsupportedError that lists every operator that
 * cannot be compiled, CompileLimitError at a limit.
 */
export function compileTflite(bytes: Uint8Array, options: CompileOnnxOptions = {}): Executable {
  checkOptions<CompileOnnxOptions>('compileTflite', options, ONNX_OPTIONS);
  return compileImported(bytes, options, importWithin);
}
