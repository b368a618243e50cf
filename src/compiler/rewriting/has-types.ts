import { proveEqual } from '../../core/dims/dim-algebra.ts';
import type { Dim } from '../../core/dims/dim.ts';
import type { TensorType } from '../../core/contracts/primitive-function.ts';
import type { TypeInference } from '../inference/type-inference.ts';
import type { Expr } from '../ir/expr.ts';
import { sameType } from '../ir/type.ts';
import type { Captures } from './captures.ts';
import type { TypePattern } from './expr-pattern.ts';
import type { RewriteRule } from './rewrite-rule.ts';

/** Returns true if all captures have the types that a rule requires. */
export function hasTypes(
  { types: wanted = {} }: RewriteRule,
  captures: Captures,
  types: TypeInference,
): boolean {
  return Object.entries(wanted).every(([name, pattern]) => {
    const expr = captures.find(name);
    if (expr === undefined) return true;
    const type = tensorTypeOf(expr, types);
    return type !== undefined && isType(type, pattern, { captures, types });
  });
}

/** The type of a tensor; undefined for other values. */
export function tensorTypeOf(expr: Expr, types: TypeInference): TensorType | undefined {
  const type = types.of(expr);
  return type.kind === 'tensor' ? type : undefined;
}

/** Returns true if two expressions have the same type; an unknown dimension equals another one. */
export function haveSameType(a: Expr, b: Expr, types: TypeInference): boolean {
  const [type, other] = [types.of(a), types.of(b)];
  if (type.kind !== 'tensor' || other.kind !== 'tensor') return sameType(type, other);
  const { dtype, shape } = type;
  const isLike = (dim: Dim, axis: number): boolean =>
    dim === '?' ? other.shape[axis] === '?' : proveEqual(dim, other.shape[axis] ?? '?');
  return dtype === other.dtype && shape.length === other.shape.length && shape.every(isLike);
}

function isType(
  { dtype, shape }: TensorType,
  pattern: TypePattern,
  { captures, types }: { readonly captures: Captures; readonly types: TypeInference },
): boolean {
  const { dtypes, rank, dtypeOf, rankOf, shapeOf } = pattern;
  const other = (name: string): TensorType | undefined => tensorTypeOf(captures.get(name), types);
  if (dtypes !== undefined && !dtypes.includes(dtype)) return false;
  if (rank !== undefined && shape.length !== rank) return false;
  if (dtypeOf !== undefined && other(dtypeOf)?.dtype !== dtype) return false;
  if (rankOf !== undefined && other(rankOf)?.shape.length !== shape.length) return false;
  return shapeOf === undefined || isSameShape(shape, other(shapeOf)?.shape);
}

function isSameShape(shape: TensorType['shape'], other: TensorType['shape'] | undefined): boolean {
  return (
    other?.length === shape.length &&
    shape.every((dim, axis) => proveEqual(dim, other[axis] ?? '?'))
  );
}
