import { ELEMENTWISE_REFERENCES } from './elementwise/elementwise-ops.reference.ts';
import { LINEAR_REFERENCES } from './linear/linear-ops.reference.ts';
import { CONVOLUTION_REFERENCES } from './convolution/convolution-ops.reference.ts';
import { NORMALIZATION_REFERENCES } from './normalization/normalization-ops.reference.ts';
import { RECURRENT_REFERENCES } from './recurrent/recurrent-ops.reference.ts';
import { ATTENTION_REFERENCES } from './attention/attention-ops.reference.ts';
import { REDUCTION_REFERENCES } from './reduction/reduction-ops.reference.ts';
import { MOVEMENT_REFERENCES } from './movement/movement-ops.reference.ts';
import { PROGRAM_REFERENCES } from './program/program-ops.reference.ts';
import { INDEXING_REFERENCES } from './indexing/indexing-ops.reference.ts';
import { SPATIAL_REFERENCES } from './spatial/spatial-ops.reference.ts';
import { SIGNAL_REFERENCES } from './signal/signal-ops.reference.ts';
import { QUANTIZATION_REFERENCES } from './quantization/quantization-ops.reference.ts';
import { DYNAMIC_REFERENCES } from './dynamic/dynamic-ops.reference.ts';
import type { OpReference } from './op-reference.ts';

/** Host computations of the core operators, by name. */
export const CORE_REFERENCES: Readonly<Record<string, OpReference>> = {
  ...ELEMENTWISE_REFERENCES,
  ...LINEAR_REFERENCES,
  ...CONVOLUTION_REFERENCES,
  ...NORMALIZATION_REFERENCES,
  ...RECURRENT_REFERENCES,
  ...ATTENTION_REFERENCES,
  ...REDUCTION_REFERENCES,
  ...MOVEMENT_REFERENCES,
  ...PROGRAM_REFERENCES,
  ...INDEXING_REFERENCES,
  ...SPATIAL_REFERENCES,
  ...SIGNAL_REFERENCES,
  ...QUANTIZATION_REFERENCES,
  ...DYNAMIC_REFERENCES,
};
