import type { Attributes, ConcreteTensorType } from '../core/primitive-function.ts';
import type { Operands } from './lowering.ts';

/** The call that is estimated: concrete types, complete attributes. */
export interface WorkCall {
  readonly inputs: Operands<ConcreteTensorType>;
  readonly output: ConcreteTensorType;
  readonly attributes: Attributes;
}

/** Additions and multiplications of a call, about. */
export type WorkFunction = (call: WorkCall) => number;
