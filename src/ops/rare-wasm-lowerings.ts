import { convTransposeKernel } from './convolution/conv-transpose.wasm.ts';
import { CACHED_ATTENTION_WASM } from './attention/cached-attention.wasm.ts';
import { SCATTER_WASM } from './indexing/scatter.wasm.ts';
import { topKWasm } from './indexing/top-k.wasm.ts';
import { batchNormWasm } from './normalization/batch-norm.wasm.ts';
import { QUANTIZATION_WASM } from './quantization/quantization-ops.wasm.ts';
import { RECURRENT_WASM } from './recurrent/recurrent.wasm.ts';
import { ARG_REDUCE_WASM } from './reduction/arg-reduce.wasm.ts';
import { cumulativeWasm } from './reduction/cumulative.wasm.ts';
import { resampleWasm } from './spatial/resample.wasm.ts';
import { ofFloats, withHalves } from './wasm-kernels.ts';
import type { WasmLowering } from './wasm-lowering.ts';

/** Kernels that few programs need, in a file of their own. */
export const RARE_WASM_LOWERINGS: Readonly<Record<string, WasmLowering | undefined>> = {
  ...RECURRENT_WASM,
  ...QUANTIZATION_WASM,
  ...CACHED_ATTENTION_WASM,
  ...SCATTER_WASM,
  ...ARG_REDUCE_WASM,
  batch_norm: batchNormWasm,
  resample: resampleWasm,
  top_k: topKWasm,
  cumulative: cumulativeWasm,
  conv_transpose: withHalves(ofFloats(convTransposeKernel)),
};
