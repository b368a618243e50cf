import type { DimFacts } from '../core/dims/dim-bounds.ts';
import { CONCRETE_DIMS } from '../core/dims/dim-context.ts';
import type { Dim } from '../core/dims/dim.ts';
import type {
  Attributes,
  ConcreteTensorType,
  TensorType,
} from '../core/contracts/primitive-function.ts';
import { type DimCheck, SymbolicDims } from '../core/dims/symbolic-dims.ts';
import { hasSymbols } from './attributes.ts';
import type { OpDefinition } from './define-op.ts';
import type { Operands } from './lowering/lowering.ts';
import { checkCall, type InferredCall, possible } from './infer-concrete-call.ts';

interface SymbolicCall extends InferredCall<Dim> {
  /** Checks for when the program runs, because symbols leave them open. */
  readonly checks: readonly DimCheck[];
}

/**
 * Checks a call's attributes, number of inputs and dtypes, then infers the type of its result, whose
 * dimensions are in canonical form. `facts` are bounds of the symbols. Kept apart from `inferConcreteCall`,
 * because devices need numbers only.
 * Throws UnsupportedError for attributes the operator does not have, ShapeError for all else.
 */
export function inferCall(
  op: OpDefinition,
  inputs: Operands<TensorType>,
  attributes: Attributes,
  ...[facts]: DimFacts[]
): SymbolicCall {
  const complete = checkCall(op, inputs, attributes);
  if (op.kind !== 'dynamic' && isConcrete(inputs) && !hasSymbols(op, complete)) {
    return {
      attributes: complete,
      output: possible(op, op.infer(inputs, complete, CONCRETE_DIMS)),
      checks: [],
    };
  }
  const dims = new SymbolicDims(facts);
  const canonical = inputs.map(
    (type) => type && { dtype: type.dtype, shape: type.shape.map((dim) => dims.of(dim)) },
  );
  const output = possible(op, op.infer(canonical, complete, dims));
  return { attributes: complete, output, checks: dims.checks };
}

function isConcrete(inputs: Operands<TensorType>): inputs is Operands<ConcreteTensorType> {
  return inputs.every(
    (type) => type === undefined || type.shape.every((dim) => typeof dim === 'number'),
  );
}
