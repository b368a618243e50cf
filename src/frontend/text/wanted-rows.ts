import type { TypeInference } from '../../compiler/inference/type-inference.ts';
import { call } from '../../compiler/ir/build.ts';
import type { Dim } from '../../core/dim.ts';
import type { Expr } from '../../compiler/ir/expr.ts';

/**
 * Operators that compute each element from those at its place, and from constants that all tokens
 * share.
 */
const ELEMENTWISE = new Set(['cast', 'add', 'sub', 'mul', 'div', 'tanh', 'neg']);
/** Products of a row for each token by weights, which are what follows. */
const PRODUCTS = new Set(['matmul', 'matmul_nbits']);

/**
 * Logits (b, s, V) of an expression, but only of the tokens `wanted`, int32 (b, m): (b, m, V). The tokens are taken before
 * the product by the head's weights where that is a product of each token's row by constants, which is most of
 * the work for a prompt.
 */
export function wantedRows(logits: Expr, wanted: Expr, types: TypeInference): Expr {
  const shapeOf = (expr: Expr): readonly Dim[] => {
    const type = types.of(expr);
    return type.kind === 'tensor' ? type.shape : [];
  };
  /** A constant that all tokens share: of one axis, or of the axes of a matrix in a product. */
  const isShared = (expr: Expr, rank: number): boolean => {
    const shape = shapeOf(expr);
    return shape.slice(0, -1).every((size) => size === 1) || shape.length <= rank;
  };
  const take = (expr: Expr): Expr => {
    if (expr.kind === 'call' && expr.callee.kind === 'operator') {
      const { name } = expr.callee;
      const { args } = expr;
      const rows = args.filter((arg) => !isConstant(arg));
      const [x] = rows;
      const isProduct = PRODUCTS.has(name) && x === args[0];
      const rank = isProduct && name === 'matmul' ? 2 : isProduct ? Number.POSITIVE_INFINITY : 1;
      const others = args.filter(isConstant);
      const isPassed =
        x !== undefined &&
        rows.length === 1 &&
        shapeOf(x).length === 3 &&
        (isProduct || ELEMENTWISE.has(name)) &&
        others.every((arg) => isShared(arg, rank));
      if (isPassed) return { ...expr, args: args.map((arg) => (arg === x ? take(x) : arg)) };
    }
    const places = call('reshape', [wanted], { shape: ['b', 'm', 1] });
    return call('gather_nd', [expr, places], { batch_dims: 1 });
  };
  return take(logits);
}

/** A constant, or what follows from constants alone, such as a transposed one. */
function isConstant(expr: Expr): boolean {
  if (expr.kind === 'constant') return true;
  const isCall = expr.kind === 'call' && expr.callee.kind === 'operator';
  return isCall && expr.args.length > 0 && expr.args.every(isConstant);
}
