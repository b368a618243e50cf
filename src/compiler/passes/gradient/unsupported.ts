import { UnsupportedError } from '../../../core/errors.ts';
import { type Expr, formatSpan, spanOf } from '../../ir/expr.ts';

/** The complaint about code that has no derivative, with its place. */
export function unsupported(at: Expr, got: string): UnsupportedError {
  return new UnsupportedError({
    where: formatSpan(spanOf(at), 'gradient'),
    got,
    expected: 'code that can be differentiated',
    remedy: 'Give it an adjoint with custom_gradient, or end derivatives with stop_gradient.',
  });
}
