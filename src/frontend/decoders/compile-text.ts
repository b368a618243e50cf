import { CompileBudget, type BudgetOptions } from '../../compiler/ir/compile-budget.ts';
import { type Assembled, countCalls } from '../../compiler/compile-in-steps.ts';
import type { Module } from '../../compiler/ir/expr.ts';
import { FormatError } from '../../core/errors.ts';
import type { CompileLimits } from '../../core/limits/compile-limits.ts';
import { importWithin } from '../onnx/import-onnx.ts';
import type { ExternalDataReader } from '../onnx/protobuf/external-data.ts';
import { takeTurns } from '../take-turns.ts';
import type { CacheType } from '../../core/text-layout.ts';
import { withCachesOf } from './cache-type.ts';
import { type Decoder, generationModule } from './generation-module.ts';
import { onnxDecoder } from './onnx-decoder.ts';
import { withReport } from './quantize-decoder.ts';
import { textModuleWithin } from './text-module.ts';
import type { WeightQuantizer } from './weight-quantizer.ts';

/** Within which limits a language model is compiled, and what its progress is reported to. */
export interface CompileTextOptions extends Pick<BudgetOptions, 'onPlace'> {
  readonly compileLimits?: CompileLimits | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Looked at between passes. */
  readonly signal?: AbortSignal | undefined;
  /** Rounds weights, of decoders while they are read. */
  readonly quantizer?: WeightQuantizer | undefined;
  /** The dtype of caches of keys and values. Default: that of the model. */
  readonly cacheType?: CacheType | undefined;
}

/**
 * Compiles the program that generates text with a decoder, with turns for others between passes. `weightBytes` is how many
 * bytes its weights take. Rejects as `compile` throws, and with the signal's reason.
 */
export function compileDecoder(
  decoder: Decoder,
  {
    weightBytes,
    quantizer,
    cacheType,
    ...options
  }: CompileTextOptions & { readonly weightBytes: number },
): Promise<Assembled> {
  return compileText(options, (budget) => {
    budget.addWeights(weightBytes);
    const written = generationModule(withCachesOf(decoder, cacheType));
    const module = quantizer === undefined ? written : withReport(written, quantizer);
    budget.addWrittenCalls(countCalls(module));
    return module;
  });
}

/** {@link compileDecoder} of a model in ONNX, whose tensors in other files `externalData` has. */
export function compileOnnxDecoder(
  bytes: Uint8Array,
  {
    externalData,
    quantizer,
    cacheType,
    ...options
  }: CompileTextOptions & { readonly externalData: ExternalDataReader | undefined },
): Promise<Assembled> {
  return compileText(options, () =>
    textModuleWithin(bytes, { externalData, quantizer, cacheType }),
  );
}

/**
 * Looks whether Weft has all that a model in ONNX needs, before tensors in other files are read: they are taken for zeros.
 * Throws as `importOnnx` does, and UnsupportedError for a model that is no decoder with a cache.
 */
export function checkOnnxDecoder(
  bytes: Uint8Array,
  { compileLimits, cacheType }: Pick<CompileTextOptions, 'compileLimits' | 'cacheType'>,
): void {
  new CompileBudget(compileLimits).run(() => {
    onnxDecoder(importWithin(bytes, { externalData: zeros }), { cacheType });
  });
}

const zeros: ExternalDataReader = (path, { byteLength }) => {
  try {
    return new Uint8Array(byteLength);
  } catch (cause) {
    const got = `a tensor of ${byteLength} bytes`;
    throw new FormatError({ where: path, got, expected: 'one that fits into memory' }, { cause });
  }
};

function compileText(
  { compileLimits, onProgress, signal, ...given }: CompileTextOptions,
  write: (budget: CompileBudget) => Module,
): Promise<Assembled> {
  const budget = new CompileBudget(compileLimits, given);
  const module = budget.run(() => write(budget));
  return takeTurns(module, { compileLimits, onProgress }, { budget, signal });
}
