import { internalError } from '../../core/errors.ts';
import type { OpDefinition } from '../define-op.ts';
import { ELEMENTWISE_OPS } from '../elementwise/elementwise-ops.ts';
import { LINEAR_OPS } from '../linear/linear-ops.ts';
import { CONVOLUTION_OPS } from '../convolution/convolution-ops.ts';
import { NORMALIZATION_OPS } from '../normalization/normalization-ops.ts';
import { RECURRENT_OPS } from '../recurrent/recurrent-ops.ts';
import { ATTENTION_OPS } from '../attention/attention-ops.ts';
import { REDUCTION_OPS } from '../reduction/reduction-ops.ts';
import { MOVEMENT_CASES } from '../movement/movement-ops.cases.ts';
import { PROGRAM_OPS } from '../program/program-ops.ts';
import { INDEXING_OPS } from '../indexing/indexing-ops.ts';
import { SPATIAL_OPS } from '../spatial/spatial-ops.ts';
import { SIGNAL_OPS } from '../signal/signal-ops.ts';
import { QUANTIZATION_OPS } from '../quantization/quantization-ops.ts';
import { DYNAMIC_OPS } from '../dynamic/dynamic-ops.ts';
import { inlineCases } from '../inline-parts.ts';
import type { OpCases } from '../op-cases.ts';
import { opDefinition, OPS } from '../registry.ts';

/** An operator with what tests it. */
export type TestedOp = OpDefinition & OpCases;

const CASES: ReadonlyMap<string, OpCases> = new Map(
  Object.entries({
    ...inlineCases(ELEMENTWISE_OPS),
    ...inlineCases(LINEAR_OPS),
    ...inlineCases(CONVOLUTION_OPS),
    ...inlineCases(NORMALIZATION_OPS),
    ...inlineCases(RECURRENT_OPS),
    ...inlineCases(ATTENTION_OPS),
    ...inlineCases(REDUCTION_OPS),
    ...MOVEMENT_CASES,
    ...inlineCases(PROGRAM_OPS),
    ...inlineCases(INDEXING_OPS),
    ...inlineCases(SPATIAL_OPS),
    ...inlineCases(SIGNAL_OPS),
    ...inlineCases(QUANTIZATION_OPS),
    ...inlineCases(DYNAMIC_OPS),
  }),
);

/** The operator with its cases. */
export function withCases(op: OpDefinition): TestedOp {
  const cases = CASES.get(op.name);
  if (cases === undefined) throw internalError(`operator ${op.name} has no cases`);
  return { ...op, ...cases };
}

/** The operator of a name with its cases. */
export const testedOp = (name: string): TestedOp => withCases(opDefinition(name));

/** Every operator with its cases, by name. */
export const TESTED_OPS: ReadonlyMap<string, TestedOp> = new Map(
  [...OPS].map(([name, op]) => [name, withCases(op)]),
);
