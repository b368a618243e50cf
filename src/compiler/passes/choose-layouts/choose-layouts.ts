import { internalError } from '../../../core/errors.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { call } from '../../ir/build.ts';
import { type CallExpr, type Expr, type FunctionExpr, type Span, spanOf } from '../../ir/expr.ts';
import { isOperatorCall, type OperatorCall } from '../../ir/operators/operator-name.ts';
import { mapFunctions, postOrder, rewrite } from '../../ir/walk/visit.ts';
import { tensorTypeOf } from '../../rewriting/has-types.ts';
import { sizesOf } from '../fuse/kernel-work.ts';
import type { Pass } from '../pass.ts';
import { axisRuleOf, droppedAxes, dropsAxes, permutedCall } from './axis-rules.ts';
import { cheapestLayouts, type Moves } from './cheapest-layouts.ts';
import { isTranspose, LayoutGraph, type LayoutValue, permOf, type View } from './layout-graph.ts';
import { between, identity, isIdentity, type Permutation, permuted } from './permutation.ts';

/** Each round takes transposes away. */
const MOST_ROUNDS = 8;

/**
 * Takes away the transposes between chains of calls that want tensors in different layouts, such as convolutions,
 * whose channels are the second axis, in a model whose channels are the last one. Calls in between are computed in the layout
 * in which the fewest bytes are transposed.
 */
export const chooseLayouts: Pass = {
  name: 'choose-layouts',
  run: (module, { types }) =>
    mapFunctions(module, (fn) => {
      if (!postOrder(fn.body).some(isTranspose)) return fn;
      let current = fn;
      for (let round = 0; round < MOST_ROUNDS; round++) {
        const graph = new LayoutGraph(current, types);
        const moves = cheapestLayouts(graph, sizesOf(current));
        if (moves.size === 0) break;
        current = new LayoutRewriter(graph, moves, types).rewritten(current);
      }
      return withViews(current, types);
    }),
};

/** Transposes that only move axes of size 1 as reshapes, which are no kernels. */
function withViews(fn: FunctionExpr, types: TypeInference): FunctionExpr {
  const body = rewrite(fn.body, (expr) => {
    const [operand] = isTranspose(expr) ? expr.args : [];
    const shape = operand && tensorTypeOf(operand, types)?.shape;
    if (shape === undefined || expr.kind !== 'call') return expr;
    const perm = permOf(expr);
    return isView(shape, perm) ? reshaped(expr, operand, permuted(shape, perm)) : expr;
  });
  return body === fn.body ? fn : { ...fn, body };
}

function isView(shape: readonly Dim[], perm: Permutation): boolean {
  const axes = perm.filter((axis) => shape[axis] !== 1);
  return axes.every((axis, i) => axis >= (axes[i - 1] ?? 0));
}

function reshaped(like: Expr, operand: Expr | undefined, shape: readonly Dim[]): Expr {
  if (operand === undefined) throw internalError('a call without an operand');
  return call('reshape', [operand], { shape }, spanOf(like));
}

interface HeldValue {
  readonly expr: Expr;
  /** Axis i is axis `perm[i]` of the value in the program. */
  readonly perm: Permutation;
}

/** Writes a function again with values in other layouts. */
class LayoutRewriter {
  readonly #graph: LayoutGraph;
  readonly #moves = new Map<Expr, Permutation>();
  readonly #types: TypeInference;
  readonly #held = new Map<LayoutValue, HeldValue>();
  /** Values by the layouts in which they are read. */
  readonly #transposed = new Map<LayoutValue, Map<string, Expr>>();

  constructor(graph: LayoutGraph, moves: Moves, types: TypeInference) {
    this.#graph = graph;
    for (const [{ expr }, perm] of moves) this.#moves.set(expr, perm);
    this.#types = types;
  }

  rewritten(fn: FunctionExpr): FunctionExpr {
    return { ...fn, body: rewrite(fn.body, (expr, original) => this.#replace(expr, original)) };
  }

  #replace(expr: Expr, original: Expr): Expr {
    const view = this.#graph.views.get(original);
    if (view !== undefined && view.base.expr !== original) {
      return this.#read(view, spanOf(original));
    }
    const move = this.#moves.get(original);
    if (move === undefined || !isOperatorCall(original) || isIdentity(move)) {
      return this.#keep(view, this.#withWeights(expr, original));
    }
    if (this.#graph.takers.has(original)) return this.#keep(view, this.#taken(original, move));
    if (view === undefined) throw internalError('a layout of what is no value');
    this.#held.set(view.base, { expr: this.#permuted(original, expr, move), perm: move });
    return this.#read(view, spanOf(original));
  }

  /** A value in the layout of the program. */
  #keep(view: View | undefined, expr: Expr): Expr {
    if (view !== undefined) this.#held.set(view.base, { expr, perm: identity(view.perm.length) });
    return expr;
  }

  /** A value with its axes in the order of a view. */
  #read({ base, perm }: View, span: Span | undefined): Expr {
    const held = this.#held.get(base);
    if (held === undefined) throw internalError('a value that is read before it is computed');
    const move = between(held.perm, perm);
    if (isIdentity(move)) return held.expr;
    const known = this.#transposed.get(base) ?? new Map<string, Expr>();
    this.#transposed.set(base, known);
    const same = known.get(move.join());
    if (same !== undefined) return same;
    const moved = call('transpose', [held.expr], { perm: move }, span);
    known.set(move.join(), moved);
    return moved;
  }

  /** A call in another layout. `expr` is the call in that of the program. */
  #permuted(original: OperatorCall, expr: Expr, perm: Permutation): Expr {
    const rule = axisRuleOf(original, this.#types);
    const now = expr.kind === 'call' ? expr.args : [];
    const args = original.args.map((arg, i) => {
      const as = now[i] ?? arg;
      return rule?.operands === 'first' && i > 0 ? as : this.#aligned(arg, as, perm);
    });
    return permutedCall(original, { args, perm, types: this.#types });
  }

  /** An operand whose axes are the last ones of a result, as operand of the result with permuted axes. */
  #aligned(original: Expr, now: Expr, perm: Permutation): Expr {
    const view = this.#graph.views.get(original);
    const known = view !== undefined && this.#held.has(view.base);
    if (known && view.perm.length === perm.length) {
      return this.#read({ base: view.base, perm: permuted(view.perm, perm) }, spanOf(original));
    }
    const shape = tensorTypeOf(original, this.#types)?.shape ?? [];
    if (shape.every((dim) => dim === 1)) return now;
    const missing = perm.length - shape.length;
    const full = [...Array.from({ length: missing }, () => 1), ...shape];
    const widened = missing === 0 ? now : reshaped(original, now, full);
    const moved = permuted(full, perm);
    if (isView(full, perm)) return reshaped(original, now, withoutLeadingOnes(moved));
    return call('transpose', [widened], { perm }, spanOf(original));
  }

  /** A call whose result is the same for an operand with permuted axes. */
  #taken(original: OperatorCall, perm: Permutation): Expr {
    const [operand] = original.args;
    const view = operand && this.#graph.views.get(operand);
    if (view === undefined) throw internalError('a taker of what is no value');
    const { base } = view;
    const read = this.#read({ base, perm: permuted(view.perm, perm) }, spanOf(original));
    const attributes = dropsAxes(original)
      ? droppedAxes(original, perm, this.#types)
      : original.attributes;
    return { ...original, args: [read], attributes: attributes ?? original.attributes };
  }

  /** A product with rows whose elements come in another order has its weights in that order. */
  #withWeights(expr: Expr, original: Expr): Expr {
    if (!isOperatorCall(original) || expr.kind !== 'call') return expr;
    const [rows] = original.args;
    const perm = rows && this.#moves.get(rows);
    const taker = rows && this.#graph.takers.get(rows);
    if (perm === undefined || taker === undefined || dropsAxes(taker.expr)) return expr;
    const [input, weights, ...more] = expr.args;
    if (input === undefined || weights === undefined) return expr;
    const isLast = original.attributes['trans_b'] === true;
    return {
      ...expr,
      args: [input, this.#reordered(weights, isLast, { taker: taker.expr, perm }), ...more],
    };
  }

  #reordered(
    weights: Expr,
    isLast: boolean,
    { taker, perm }: { readonly taker: CallExpr; readonly perm: Permutation },
  ): Expr {
    const shape = tensorTypeOf(weights, this.#types)?.shape ?? [];
    const [operand] = taker.args;
    const [, ...rest] = (operand && tensorTypeOf(operand, this.#types)?.shape) ?? [];
    const order = perm.slice(1).map((axis) => (isLast ? axis : axis - 1));
    const split = isLast ? [...shape.slice(0, 1), ...rest] : [...rest, ...shape.slice(1)];
    const apart = call('reshape', [weights], { shape: split });
    const all = isLast ? [0, ...order] : [...order, rest.length];
    return call('reshape', [call('transpose', [apart], { perm: all })], { shape });
  }
}

function withoutLeadingOnes(shape: readonly Dim[]): readonly Dim[] {
  const first = shape.findIndex((dim) => dim !== 1);
  return first < 0 ? [] : shape.slice(first);
}
