import { cachedAttentionWasm } from '../attention/cached-attention.wasm.ts';
import { convTransposeKernel } from '../convolution/conv-transpose.wasm.ts';
import { scatterElementsWasm, scatterNdWasm, tensorScatterWasm } from '../indexing/scatter.wasm.ts';
import { topKWasm } from '../indexing/top-k.wasm.ts';
import { batchNormWasm } from '../normalization/batch-norm.wasm.ts';
import { gatherMatmulNbitsWasm, matmulNbitsWasm } from '../quantization/matmul-nbits.wasm.ts';
import { convInteger, matmulInteger } from '../quantization/quantization.wasm.ts';
import { recurrentWasm } from '../recurrent/recurrent.wasm.ts';
import { argReduceWasm } from '../reduction/arg-reduce.wasm.ts';
import { cumulativeWasm } from '../reduction/cumulative.wasm.ts';
import { resampleWasm } from '../spatial/resample.wasm.ts';
import { ofFloats, withHalves } from '../lowering/wasm-kernels.ts';
import type { WasmLowering } from '../lowering/wasm-lowering.ts';
import type { KernelOpName } from './kernel-ops.ts';

/** Kernels that few programs need, in a file of their own. */
export const RARE_WASM_LOWERINGS = {
  recurrent: withHalves(recurrentWasm),
  matmul_nbits: withHalves(matmulNbitsWasm),
  gather_matmul_nbits: withHalves(gatherMatmulNbitsWasm),
  matmul_integer: matmulInteger,
  conv_integer: convInteger,
  conv_transpose: withHalves(ofFloats(convTransposeKernel)),
  scatter_elements: scatterElementsWasm,
  scatter_nd: scatterNdWasm,
  tensor_scatter: tensorScatterWasm,
  cached_attention: cachedAttentionWasm,
  top_k: topKWasm,
  cumulative: cumulativeWasm,
  resample: withHalves(resampleWasm),
  batch_norm: withHalves(batchNormWasm),
  arg_max: argReduceWasm('arg_max', 'max'),
  arg_min: argReduceWasm('arg_min', 'min'),
} satisfies Partial<Record<KernelOpName, WasmLowering>>;
