import type { OpDefinition } from './define-op.ts';
import { ATTENTION_OPS } from './attention/attention-ops.ts';
import { ELEMENTWISE_OPS } from './elementwise/elementwise-ops.ts';
import { LINEAR_OPS } from './linear/linear-ops.ts';
import { CONVOLUTION_OPS } from './convolution/convolution-ops.ts';
import { NORMALIZATION_OPS } from './normalization/normalization-ops.ts';
import { REDUCTION_OPS } from './reduction/reduction-ops.ts';
import { INDEXING_OPS } from './indexing/indexing-ops.ts';
import { MOVEMENT_OPS } from './movement/movement-ops.ts';
import { SIGNAL_OPS } from './signal/signal-ops.ts';
import { SPATIAL_OPS } from './spatial/spatial-ops.ts';
import { PROGRAM_OPS } from './program/program-ops.ts';
import { RECURRENT_OPS } from './recurrent/recurrent-ops.ts';
import { QUANTIZATION_OPS } from './quantization/quantization-ops.ts';

/**
 * The operators that devices may have kernels for, by name. All others run on the host, which knows
 * them from `coreOperators`, so that whoever runs programs on WebGPU needs none of them.
 */
export const KERNEL_OPS: ReadonlyMap<string, OpDefinition> = new Map(
  [
    ...ELEMENTWISE_OPS,
    ...LINEAR_OPS,
    ...CONVOLUTION_OPS,
    ...NORMALIZATION_OPS,
    ...RECURRENT_OPS,
    ...ATTENTION_OPS,
    ...REDUCTION_OPS,
    ...MOVEMENT_OPS,
    ...PROGRAM_OPS,
    ...INDEXING_OPS,
    ...SPATIAL_OPS,
    ...SIGNAL_OPS,
    ...QUANTIZATION_OPS,
  ].map((op) => [op.name, op]),
);
