import { proveEqual } from '../../../core/dims/dim-algebra.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import type { TensorType } from '../../../core/contracts/primitive-function.ts';
import { normalizeAxis } from '../../../core/tensor/shape.ts';
import { call } from '../../ir/build.ts';
import type { Expr } from '../../ir/expr.ts';
import type { Captures } from '../../rewriting/captures.ts';
import { any, calls, type ExprPattern } from '../../rewriting/expr-pattern.ts';
import { tensorTypeOf } from '../../rewriting/has-types.ts';
import type { RewriteContext, RewriteRule } from '../../rewriting/rewrite-rule.ts';
import { isOperatorCall, operatorName } from '../../ir/operators/operator-name.ts';

const ROWS = any('rows');
const BEFORE = part('before');
const BEHIND = part('behind');

/** A slice of the tensor that is updated. */
function part(name: string): ExprPattern {
  const steps = { every: 1, isOptional: true } as const;
  return calls('slice', [any('x')], {
    name,
    attributes: { starts: { name: `from ${name}` }, steps },
  });
}

/** Rows between what lies before and behind them in a tensor, or at an end of it. */
export const SLICE_UPDATES: readonly RewriteRule[] = [
  sliceUpdate('slice update', [BEFORE, ROWS, BEHIND]),
  sliceUpdate('slice update at the begin', [ROWS, BEHIND]),
  sliceUpdate('slice update at the end', [BEFORE, ROWS]),
];

function sliceUpdate(name: string, parts: readonly ExprPattern[]): RewriteRule {
  return {
    name,
    explains: 'A tensor from outside of kernels may be a state, which is overwritten.',
    pattern: calls('concat', parts, { attributes: { axis: { name: 'axis' } } }),
    replace: updatedSlice,
  };
}

function updatedSlice(captures: Captures, { types }: RewriteContext): Expr | undefined {
  const typeOf = (name: string): TensorType | undefined => {
    const expr = captures.find(name);
    return expr && tensorTypeOf(expr, types);
  };
  const [x, rows, root] = [typeOf('x'), typeOf('rows'), typeOf('root')];
  const [given, updates] = [captures.get('x'), captures.get('rows')];
  if (!(x && rows && root && isGiven(given))) return undefined;
  // Elements of a tensor in another order, such as those of an image whose edges are repeated, are read once.
  if (updates.kind === 'call' && operatorName(updates) === 'slice' && updates.args[0] === given) {
    return undefined;
  }
  const { shape } = x;
  const axis = normalizeAxis(Number(captures.attribute('axis')), shape.length, 'concat');
  const begin = typeOf('before')?.shape[axis] ?? 0;
  const end: Dim = { op: 'add', left: begin, right: rows.shape[axis] ?? '?' };
  const startsAt = (name: string, along: Dim): boolean => {
    const starts = captures.attribute(`from ${name}`);
    if (!Array.isArray(starts)) return true;
    return starts.every((start, i) =>
      proveEqual(fromBegin(start, shape[i]), i === axis ? along : 0),
    );
  };
  // Together they are as long as x, so that no slice was cut short.
  const isUpdate =
    isSameShape(root.shape, shape) &&
    isSameShape(rows.shape.with(axis, 1), shape.with(axis, 1)) &&
    startsAt('before', 0) &&
    startsAt('behind', end);
  return isUpdate
    ? scatter({ x: given, updates, shape, rows: rows.shape, axis, begin })
    : undefined;
}

/** A start that counts from the end, from the begin. */
function fromBegin(start: Dim, size: Dim = '?'): Dim {
  return typeof start === 'number' && start < 0 ? { op: 'add', left: size, right: start } : start;
}

function isSameShape(shape: readonly Dim[], other: readonly Dim[]): boolean {
  return (
    shape.length === other.length && shape.every((dim, axis) => proveEqual(dim, other[axis] ?? '?'))
  );
}

/**
 * Returns true for a tensor that no kernel computes and that is no constant, or such a tensor
 * reshaped.
 */
function isGiven(tensor: Expr): boolean {
  let from = tensor;
  while (isOperatorCall(from)) {
    const [operand] = from.args;
    if (from.callee.name !== 'reshape' || operand === undefined) return false;
    from = operand;
  }
  return from.kind !== 'constant';
}

interface Update {
  readonly x: Expr;
  readonly updates: Expr;
  readonly shape: readonly Dim[];
  readonly rows: readonly Dim[];
  readonly axis: number;
  readonly begin: Dim;
}

/** tensor_scatter takes a begin for each slice of the outermost axis, and so not that one. */
function scatter({ x, updates, shape, rows, axis, begin }: Update): Expr {
  if (axis > 0) {
    return call('tensor_scatter', [x, updates, begins(begin, shape[0] ?? 1)], { axis });
  }
  const within = (tensor: Expr, of: readonly Dim[]): Expr =>
    call('reshape', [tensor], { shape: [1, ...of] });
  const inputs = [within(x, shape), within(updates, rows), begins(begin, 1)];
  return call('reshape', [call('tensor_scatter', inputs, { axis: 1 })], { shape });
}

/** The begin for each of some slices. */
function begins(begin: Dim, count: Dim): Expr {
  if (typeof begin === 'number') {
    return call('full', [], { shape: [count], value: begin, dtype: 'int32' });
  }
  const one = call('dims_tensor', [], { dims: [begin] });
  return count === 1 ? one : call('broadcast_to', [one], { shape: [count] });
}
