import { CompileBudget } from '../../compiler/ir/compile-budget.ts';
import type { Module } from '../../compiler/ir/expr.ts';
import { type ImportOptions, importOnnx } from '../onnx/import-onnx.ts';
import { generationModule } from './generation-module.ts';
import { onnxDecoder } from './onnx-decoder.ts';

/**
 * Reads a language model in ONNX and writes the program that generates text with it, which `TextModel` of `weft-vm/text`
 * runs: the model, caches of keys and values that are changed in place, and the drawing of tokens.
 *
 * Throws what `importOnnx` throws, and UnsupportedError for a model that is no decoder with a cache.
 */
export function textModule(bytes: Uint8Array, options: ImportOptions = {}): Module {
  return new CompileBudget(options.compileLimits).run(() => {
    const { compileLimits: _, ...own } = options;
    return generationModule(onnxDecoder(importOnnx(bytes, own)));
  });
}
