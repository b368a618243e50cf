import { ofFloats } from '../wasm-kernels.ts';
import type { WasmLowering } from '../wasm-lowering.ts';
import type { ConvolutionName } from './convolution-ops.ts';
import { convolutionKernel } from './convolution.wasm.ts';
import { globalPoolKernel, poolKernel } from './pool.wasm.ts';

/** But for transposed ones, which few programs need. */
export const CONVOLUTION_WASM: Readonly<Partial<Record<ConvolutionName, WasmLowering>>> = {
  conv2d: ofFloats(convolutionKernel),
  conv3d: ofFloats(convolutionKernel),
  max_pool: ofFloats(poolKernel('max')),
  avg_pool: ofFloats(poolKernel('mean')),
  sum_pool: ofFloats(poolKernel('sum')),
  global_max_pool: globalPoolKernel('max'),
  global_avg_pool: globalPoolKernel('mean'),
};
