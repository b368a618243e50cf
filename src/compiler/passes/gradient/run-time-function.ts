import { UnsupportedError } from '../../../core/errors.ts';
import { type Expr, formatSpan, spanOf } from '../../ir/expr.ts';
import type { FunctionTypeNode, Type } from '../../ir/type.ts';

/**
 * Code is differentiated in which a function is known only when the program runs. The pass goes on with functions of its
 * type as data; what reaches callers are functions that come from outside the program.
 */
export class RunTimeFunctionError extends UnsupportedError {
  readonly type: FunctionTypeNode;

  constructor(at: Expr, type: FunctionTypeNode) {
    super({
      where: formatSpan(spanOf(at), 'gradient'),
      got: 'a derivative of a function that the caller of the program passes',
      expected: 'functions that are part of the program',
    });
    this.type = type;
  }
}

/** The first type of functions in a type: that of the function itself, or of one in a tuple. */
export function functionTypeIn(type: Type): FunctionTypeNode | undefined {
  if (type.kind === 'function') return type;
  if (type.kind !== 'tuple') return undefined;
  for (const field of type.fields) {
    const found = functionTypeIn(field);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The complaint about code that has no derivative, with its place. */
export function unsupported(at: Expr, got: string): UnsupportedError {
  return new UnsupportedError({
    where: formatSpan(spanOf(at), 'gradient'),
    got,
    expected: 'code that can be differentiated',
    remedy: 'Give it an adjoint with custom_gradient, or end derivatives with stop_gradient.',
  });
}
