import type { Adjoint } from './adjoint.ts';
import { ELEMENTWISE_ADJOINTS } from '../elementwise/elementwise-ops.adjoint.ts';
import { INDEXING_ADJOINTS } from '../indexing/indexing-ops.adjoint.ts';
import { LINEAR_ADJOINTS } from '../linear/linear-ops.adjoint.ts';
import { MOVEMENT_ADJOINTS } from '../movement/movement-ops.adjoint.ts';
import { NORMALIZATION_ADJOINTS } from '../normalization/normalization-ops.adjoint.ts';
import { REDUCTION_ADJOINTS } from '../reduction/reduction-ops.adjoint.ts';
import { ATTENTION_ADJOINTS } from '../attention/attention-ops.adjoint.ts';
import { CONVOLUTION_ADJOINTS } from '../convolution/convolution-ops.adjoint.ts';
import { DYNAMIC_ADJOINTS } from '../dynamic/dynamic-ops.adjoint.ts';
import { QUANTIZATION_ADJOINTS } from '../quantization/quantization-ops.adjoint.ts';
import { RECURRENT_ADJOINTS } from '../recurrent/recurrent-ops.adjoint.ts';
import { SIGNAL_ADJOINTS } from '../signal/signal-ops.adjoint.ts';
import { SPATIAL_ADJOINTS } from '../spatial/spatial-ops.adjoint.ts';

/** Adjoints of the core operators, by name. Only the compiler has them: no device differentiates. */
export const CORE_ADJOINTS: Readonly<Record<string, Adjoint>> = {
  ...ELEMENTWISE_ADJOINTS,
  ...LINEAR_ADJOINTS,
  ...NORMALIZATION_ADJOINTS,
  ...REDUCTION_ADJOINTS,
  ...MOVEMENT_ADJOINTS,
  ...INDEXING_ADJOINTS,
  ...ATTENTION_ADJOINTS,
  ...CONVOLUTION_ADJOINTS,
  ...DYNAMIC_ADJOINTS,
  ...QUANTIZATION_ADJOINTS,
  ...RECURRENT_ADJOINTS,
  ...SIGNAL_ADJOINTS,
  ...SPATIAL_ADJOINTS,
};
