import type { DimFacts } from '../../core/dim-bounds.ts';
import { ShapeError, UnsupportedError } from '../../core/errors.ts';
import type { Attributes, TensorType } from '../../core/primitive-function.ts';
import type { DimCheck } from '../../core/symbolic-dims.ts';
import { inferCall } from '../../ops/infer-call.ts';
import { opDefinition } from '../../ops/registry.ts';
import { formatSpan, type Span } from '../ir/expr.ts';

export interface AppliedOperator {
  readonly output: TensorType;
  /** What has to hold when the program runs, because symbols leave it open. */
  readonly checks: readonly DimCheck[];
}

/** The type of an operator's result; `facts` are bounds of symbols. Throws ShapeError or UnsupportedError. */
export function applyOperator(
  op: string,
  inputs: readonly TensorType[],
  attributes: Attributes,
  ...facts: DimFacts[]
): AppliedOperator {
  return inferCall(opDefinition(op), inputs, attributes, ...facts);
}

/** The complaint of an operator with the node of the source model before it. */
export function atPlace(thrown: unknown, span: Span | undefined): unknown {
  if (span === undefined || !(thrown instanceof Error)) return thrown;
  const message = `${formatSpan(span, '')}: ${thrown.message}`;
  if (thrown instanceof ShapeError) return new ShapeError(message, { cause: thrown });
  if (thrown instanceof UnsupportedError) return new UnsupportedError(message, { cause: thrown });
  return thrown;
}
