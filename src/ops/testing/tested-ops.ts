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

/** The cases of the operators of each family, which have kernels of one class. */
export const CASES_BY_FAMILY: Readonly<Record<string, Readonly<Record<string, OpCases>>>> = {
  elementwise: ELEMENTWISE_CASES,
  linear: LINEAR_CASES,
  convolution: CONVOLUTION_CASES,
  normalization: NORMALIZATION_CASES,
  recurrent: RECURRENT_CASES,
  attention: ATTENTION_CASES,
  reduction: REDUCTION_CASES,
  movement: MOVEMENT_CASES,
  program: PROGRAM_CASES,
  indexing: INDEXING_CASES,
  spatial: SPATIAL_CASES,
  signal: SIGNAL_CASES,
  quantization: QUANTIZATION_CASES,
  dynamic: DYNAMIC_CASES,
};

const CASES: ReadonlyMap<string, OpCases> = new Map(
  Object.values(CASES_BY_FAMILY).flatMap((family) => Object.entries(family)),
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
