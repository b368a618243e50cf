import { concreteShape } from '../../core/dim.ts';
import { ShapeError, UnsupportedError } from '../../core/errors.ts';
import type { Attributes, ConcreteTensorType, TensorType } from '../../core/primitive-function.ts';
import type { DimCheck } from '../../core/symbolic-dims.ts';
import { inferCall, inferConcreteCall, opDefinition } from '../../ops/registry.ts';
import { formatSpan, type Span } from '../ir/expr.ts';

export interface AppliedOperator {
  readonly output: TensorType;
  /** What has to hold when the program runs, because symbols leave it open. */
  readonly checks: readonly DimCheck[];
}

/** The type of an operator's result. Throws ShapeError or UnsupportedError. */
export function applyOperator(
  op: string,
  inputs: readonly TensorType[],
  attributes: Attributes,
): AppliedOperator {
  const definition = opDefinition(op);
  const concrete = concreteTypes(inputs);
  return concrete === undefined
    ? inferCall(definition, inputs, attributes)
    : inferConcreteCall(definition, concrete, attributes);
}

function concreteTypes(inputs: readonly TensorType[]): ConcreteTensorType[] | undefined {
  const concrete: ConcreteTensorType[] = [];
  for (const { dtype, shape } of inputs) {
    const known = concreteShape(shape);
    if (known === undefined) return undefined;
    concrete.push({ dtype, shape: known });
  }
  return concrete;
}

/** The complaint of an operator with the node of the source model before it. */
export function atPlace(thrown: unknown, span: Span | undefined): unknown {
  if (span === undefined || !(thrown instanceof Error)) return thrown;
  const message = `${formatSpan(span, '')}: ${thrown.message}`;
  if (thrown instanceof ShapeError) return new ShapeError(message, { cause: thrown });
  if (thrown instanceof UnsupportedError) return new UnsupportedError(message, { cause: thrown });
  return thrown;
}
