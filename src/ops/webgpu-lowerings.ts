import { ATTENTION_WEBGPU } from './attention/attention-ops.webgpu.ts';
import { CONVOLUTION_WEBGPU } from './convolution/convolution-ops.webgpu.ts';
import type { OpDefinition } from './define-op.ts';
import { INDEXING_WEBGPU } from './indexing/indexing-ops.webgpu.ts';
import { LINEAR_WEBGPU } from './linear/linear-ops.webgpu.ts';
import type { Lowering } from './lowering.ts';
import { NORMALIZATION_WEBGPU } from './normalization/normalization-ops.webgpu.ts';
import { QUANTIZATION_WEBGPU } from './quantization/quantization-ops.webgpu.ts';
import { RECURRENT_WEBGPU } from './recurrent/recurrent-ops.webgpu.ts';
import { REDUCTION_WEBGPU } from './reduction/reduction-ops.webgpu.ts';
import { SIGNAL_WEBGPU } from './signal/signal-ops.webgpu.ts';
import { SPATIAL_WEBGPU } from './spatial/spatial-ops.webgpu.ts';

/** Kernels of the core operators in WGSL, by name; only what runs programs on WebGPU loads them. */
const WEBGPU_LOWERINGS: Readonly<Record<string, Lowering | undefined>> = {
  ...LINEAR_WEBGPU,
  ...CONVOLUTION_WEBGPU,
  ...NORMALIZATION_WEBGPU,
  ...RECURRENT_WEBGPU,
  ...ATTENTION_WEBGPU,
  ...REDUCTION_WEBGPU,
  ...INDEXING_WEBGPU,
  ...SPATIAL_WEBGPU,
  ...SIGNAL_WEBGPU,
  ...QUANTIZATION_WEBGPU,
};

/** How an operator's kernels are made; undefined where it has none. */
export function webgpuLowering({ name, lower }: OpDefinition): Lowering | undefined {
  return lower === 'core' ? WEBGPU_LOWERINGS[name] : lower;
}
