import { internalError } from '../../core/errors.ts';
import type { OpDefinition } from '../define-op.ts';
import { ELEMENTWISE_CASES } from '../elementwise/elementwise-ops.cases.ts';
import { LINEAR_CASES } from '../linear/linear-ops.cases.ts';
import { CONVOLUTION_CASES } from '../convolution/convolution-ops.cases.ts';
import { NORMALIZATION_CASES } from '../normalization/normalization-ops.cases.ts';
import { RECURRENT_CASES } from '../recurrent/recurrent-ops.cases.ts';
import { ATTENTION_CASES } from '../attention/attention-ops.cases.ts';
import { REDUCTION_CASES } from '../reduction/reduction-ops.cases.ts';
import { MOVEMENT_CASES } from '../movement/movement-ops.cases.ts';
import { PROGRAM_CASES } from '../program/program-ops.cases.ts';
import { INDEXING_CASES } from '../indexing/indexing-ops.cases.ts';
import { SPATIAL_CASES } from '../spatial/spatial-ops.cases.ts';
import { SIGNAL_CASES } from '../signal/signal-ops.cases.ts';
import { QUANTIZATION_CASES } from '../quantization/quantization-ops.cases.ts';
import { DYNAMIC_CASES } from '../dynamic/dynamic-ops.cases.ts';
import type { OpCases } from '../op-cases.ts';
import { CORE_OPERATORS } from '../core-operators.ts';

/** An operator with what tests it. */
export type TestedOp = OpDefinition & OpCases;

const CASES: ReadonlyMap<string, OpCases> = new Map(
  Object.entries({
    ...ELEMENTWISE_CASES,
    ...LINEAR_CASES,
    ...CONVOLUTION_CASES,
    ...NORMALIZATION_CASES,
    ...RECURRENT_CASES,
    ...ATTENTION_CASES,
    ...REDUCTION_CASES,
    ...MOVEMENT_CASES,
    ...PROGRAM_CASES,
    ...INDEXING_CASES,
    ...SPATIAL_CASES,
    ...SIGNAL_CASES,
    ...QUANTIZATION_CASES,
    ...DYNAMIC_CASES,
  }),
);

/** The operator with its cases. */
export function withCases(op: OpDefinition): TestedOp {
  const cases = CASES.get(op.name);
  if (cases === undefined) throw internalError(`operator ${op.name} has no cases`);
  return { ...op, ...cases };
}

/** The operator of a name with its cases. */
export const testedOp = (name: string): TestedOp => withCases(CORE_OPERATORS.require(name));

/** Every operator with its cases, by name. */
export const TESTED_OPS: ReadonlyMap<string, TestedOp> = new Map(
  [...CORE_OPERATORS].map((op) => [op.name, withCases(op)]),
);
