import { elementCount } from '../core/shape.ts';
import { ATTENTION_WORK } from './attention/attention-ops.work.ts';
import { CONVOLUTION_WORK } from './convolution/convolution-ops.work.ts';
import type { OpDefinition } from './define-op.ts';
import { scalarCost } from './formula/scalar-cost.ts';
import { LINEAR_WORK } from './linear/linear-ops.work.ts';
import { QUANTIZATION_WORK } from './quantization/quantization-ops.work.ts';
import { RECURRENT_WORK } from './recurrent/recurrent-ops.work.ts';
import { SIGNAL_WORK } from './signal/signal-ops.work.ts';
import type { WorkCall, WorkFunction } from './work-function.ts';

/** Operators that compute far more than they read. */
const WORK: Readonly<Record<string, WorkFunction | undefined>> = {
  ...ATTENTION_WORK,
  ...CONVOLUTION_WORK,
  ...LINEAR_WORK,
  ...QUANTIZATION_WORK,
  ...RECURRENT_WORK,
  ...SIGNAL_WORK,
};

/** The cost of each element that is read or written, where nothing else is known. */
const USUAL_COST = 4;
/** The cost of a scalar function that calls functions. */
const LONG_COST = 32;

/** Additions and multiplications of a call, about: what nobody counted for is some for each element. */
export function operatorWork(op: OpDefinition, call: WorkCall): number {
  const own = WORK[op.name];
  if (own !== undefined) return own(call);
  const { inputs, output } = call;
  if (op.kind === 'injective') return 0;
  if (op.scalar !== undefined) {
    const dtypes = inputs.map((type) => type?.dtype ?? output.dtype);
    const { attributes } = call;
    const cost = scalarCost(op.scalar, { dtypes, attributes, output: output.dtype }) ?? LONG_COST;
    return elementCount(output.shape) * cost;
  }
  const sizes = [...inputs, output].map((type) => elementCount(type?.shape ?? []));
  return Math.max(...sizes) * USUAL_COST;
}
