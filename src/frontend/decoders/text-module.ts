import { CompileBudget } from '../../compiler/ir/compile-budget.ts';
import type { Module } from '../../compiler/ir/expr.ts';
import { type ImportOptions, importWithin } from '../onnx/import-onnx.ts';
import type { CacheType } from '../../core/text-layout.ts';
import { generationModule } from './generation-module.ts';
import { onnxDecoder } from './onnx-decoder.ts';
import { quantizeDecoder, withReport } from './quantize-decoder.ts';
import { type Quantization, WeightQuantizer } from './weight-quantizer.ts';

/** How a language model is read. */
export interface TextModuleOptions extends ImportOptions {
  /** Rounds the weights of its products to blocks of codes; `quantization()` of the program says how far that moved them. */
  readonly quantize?: Quantization | undefined;
  /** The dtype of caches of keys and values. Default: that of the model. */
  readonly cacheType?: CacheType | undefined;
}

/** {@link TextModuleOptions}, with what rounds weights. */
interface RoundedModuleOptions extends Omit<TextModuleOptions, 'quantize'> {
  readonly quantizer?: WeightQuantizer | undefined;
}

/**
 * Reads a language model in ONNX and writes the program that generates text with it, which `TextModel` of `weft-vm/text`
 * runs: the model, caches of keys and values that are changed in place, and the drawing of tokens.
 *
 * Throws what `importOnnx` throws, and UnsupportedError for a model that is no decoder with a cache.
 */
export function textModule(bytes: Uint8Array, options: TextModuleOptions = {}): Module {
  const { quantize, ...own } = options;
  return quantizedTextModule(bytes, {
    ...own,
    quantizer: quantize && new WeightQuantizer(quantize),
  });
}

/** {@link textModule} with weights that a quantizer rounds, if there is one. */
export function quantizedTextModule(
  bytes: Uint8Array,
  { compileLimits, ...options }: RoundedModuleOptions,
): Module {
  return new CompileBudget(compileLimits).run(() => textModuleWithin(bytes, options));
}

/** {@link quantizedTextModule} within the budget in force. */
export function textModuleWithin(
  bytes: Uint8Array,
  { quantizer, cacheType, ...options }: RoundedModuleOptions,
): Module {
  const decoder = onnxDecoder(importWithin(bytes, options), { cacheType });
  return quantizer === undefined
    ? generationModule(decoder)
    : withReport(generationModule(quantizeDecoder(decoder, quantizer)), quantizer);
}
