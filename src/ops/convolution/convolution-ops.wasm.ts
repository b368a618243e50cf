import type { WasmCall, WasmKernel, WasmLowering } from '../wasm-lowering.ts';
import type { ConvolutionName } from './convolution-ops.ts';
import { convolutionKernel } from './convolution.wasm.ts';
import { convTransposeKernel } from './conv-transpose.wasm.ts';
import { globalPoolKernel, poolKernel } from './pool.wasm.ts';

const ofFloats =
  (kernelOf: (call: WasmCall) => WasmKernel | undefined): WasmLowering =>
  (call) => {
    const types = [...call.inputs, call.output];
    const isFloat = types.every((type) => type === undefined || type.dtype === 'float32');
    return isFloat ? kernelOf(call) : undefined;
  };

export const CONVOLUTION_WASM: Readonly<Partial<Record<ConvolutionName, WasmLowering>>> = {
  conv2d: ofFloats(convolutionKernel),
  conv3d: ofFloats(convolutionKernel),
  conv_transpose: ofFloats(convTransposeKernel),
  max_pool: ofFloats(poolKernel('max')),
  avg_pool: ofFloats(poolKernel('mean')),
  sum_pool: ofFloats(poolKernel('sum')),
  global_max_pool: globalPoolKernel('max'),
  global_avg_pool: globalPoolKernel('mean'),
};
