import { compile, type CompileOptions, type Executable } from '../../compiler/compile.ts';
import { importOnnx } from './import-onnx.ts';

/**
 * Compiles an ONNX model to an executable whose function `main` has the graph's inputs and outputs.
 *
 * Throws FormatError for bytes that are no valid model, UnsupportedError that lists every node that
 * cannot be compiled.
 */
export function compileOnnx(bytes: Uint8Array, options: CompileOptions = {}): Executable {
  return compile(importOnnx(bytes, { dims: options.dims }), options);
}
