import { compile, type CompileOptions, type Executable } from '../../compiler/compile.ts';
import { importOnnx, type ImportOptions } from './import-onnx.ts';

export interface CompileOnnxOptions extends CompileOptions, ImportOptions {}

/**
 * Compiles an ONNX model to an executable whose function `main` has the graph's inputs and outputs.
 *
 * Throws FormatError for bytes that are no valid model, UnsupportedError that lists every node that
 * cannot be compiled.
 */
export function compileOnnx(bytes: Uint8Array, options: CompileOnnxOptions = {}): Executable {
  const { dims, externalData } = options;
  return compile(importOnnx(bytes, { dims, externalData }), options);
}
