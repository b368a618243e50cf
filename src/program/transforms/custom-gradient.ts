import { requireKind } from '../../core/check-options.ts';
import { ShapeError } from '../../core/errors.ts';
import {
  call as callOf,
  callFunction,
  customGradient as customOf,
  func,
  projection,
  tuple,
  variableOf,
  stopGradient as stopOf,
} from '../../compiler/ir/build.ts';
import { cotangentType } from '../../compiler/ir/cotangent-type.ts';
import type { Expr, FunctionExpr } from '../../compiler/ir/expr.ts';
import { formatType, sameType, type Type } from '../../compiler/ir/type.ts';
import { exprIn } from '../array-state.ts';
import { callSite, callUser, placeOf, siteOr, within } from '../call-site.ts';
import type { DataValue } from '../data/data-value.ts';
import { type Operand, stateOf } from '../operand.ts';
import { Frame, inFrame, currentFrame } from '../trace.ts';
import { mapTree } from '../data/tree.ts';
import type { ResultOf } from '../data/value-types.ts';
import { isValueLeaf, unbundle, valueOf, type WrittenLeaf } from '../values.ts';
import {
  hasDerivatives,
  typeOfLeaves,
  writeFunction,
  type WrittenFunction,
  writtenLeaf,
} from './write-function.ts';
import { type AnyFunction, mapArguments } from './function-arguments.ts';
import type { ArgumentsLike } from './grad.ts';
import { transformed } from './transform.ts';

/** Arguments of an adjoint: those of the function, its result, and the cotangent of the result. */
interface AdjointArguments<A, R> {
  readonly args: A;
  readonly result: ResultOf<R>;
  /** The cotangent of that, in its form; `null` for what is no float. */
  readonly cotangent: ResultOf<R>;
}

/**
 * A function with an adjoint of its own: it gives a list with the cotangents of the arguments, in their form, and `null`
 * for what gets none.
 *
 * ```ts
 * const clipped = customGradient((x: NdArray) => x, ({ cotangent }) => [cotangent.clip(-1, 1)]);
 * ```
 */
export function customGradient<A extends readonly unknown[], R>(
  fn: (...args: A) => R,
  adjoint: (call: AdjointArguments<A, R>) => readonly unknown[],
): (...args: ArgumentsLike<A>) => ResultOf<R> {
  return within(customGradient, () => {
    requireKind(placeOf('customGradient'), 'function', ['the adjoint', adjoint]);
    return transformed('customGradient', fn, (frame, args) => {
      const written = writeFunction(frame, { call: fn, args }, ({ type }) => type);
      const rule = writeAdjoint(frame, written, { args, adjoint });
      const exprs = written.given.map(({ expr }) => expr);
      const made = callFunction(customOf(written.fn, rule), exprs, callSite());
      return unbundle(frame, made, { tree: written.returned, leaves: written.leaves });
    });
  }, ['customGradient', arguments, 2]) as (...args: ArgumentsLike<A>) => ResultOf<R>;
}

function writeAdjoint(
  frame: Frame,
  { given, leaves, returned }: WrittenFunction,
  { args, adjoint }: { readonly args: readonly unknown[]; readonly adjoint: AnyFunction },
): FunctionExpr {
  const inner = new Frame(frame.trace, { frame, isClosure: true });
  const params = given.map(({ type }) => variableOf('x', type));
  const whole = typeOfLeaves(leaves);
  const result = variableOf('result', whole);
  const cotangent = variableOf('cotangent', cotangentType(whole));
  let next = 0;
  const own = mapArguments(args, () => {
    const leaf = given[next];
    const param = params[next++];
    if (leaf === undefined || param === undefined) throw new Error('internal: no parameter');
    return valueOf(inner, param, leaf);
  });
  return inFrame(inner, () => {
    const call = {
      args: own,
      result: unbundle(inner, result, { tree: returned, leaves }),
      cotangent: cotangentsOf(inner, cotangent, { returned, leaves }),
    };
    const gave = callUser(() => (adjoint as (call: unknown) => unknown)(call));
    const isList = (value: unknown) => Array.isArray(value) && value.length === args.length;
    const expected = `a list of ${args.length}, one for each argument`;
    requireKind(placeOf('customGradient'), [expected, isList], ['a result of the adjoint', gave]);
    const fields = given.map((leaf) => cotangentIn(inner, leaf, gave));
    return func([...params, result, cotangent], tuple(fields));
  });
}

function cotangentsOf(
  frame: Frame,
  whole: Expr,
  { returned, leaves }: Pick<WrittenFunction, 'returned' | 'leaves'>,
): unknown {
  let next = 0;
  return mapTree(returned, isValueLeaf, () => {
    const index = next++;
    const leaf = leaves[index];
    if (leaf === undefined || !hasDerivatives(leaf)) return null;
    return valueOf(frame, leaves.length === 1 ? whole : projection(whole, index), leaf);
  });
}

/** The cotangent that an adjoint gave for a leaf of the arguments; zeros where it gave none. */
function cotangentIn(frame: Frame, leaf: WrittenLeaf, gave: unknown): Expr {
  const wanted = cotangentType(leaf.type);
  if (wanted.kind === 'tuple') return tuple([]);
  const found = leaf.path
    .split('.')
    .reduce<unknown>(
      (branch, key) =>
        typeof branch === 'object' && branch !== null
          ? (branch as Readonly<Record<string, unknown>>)[key]
          : null,
      gave,
    );
  if (wanted.kind !== 'tensor') return writtenLeaf(frame, found as DataValue, leaf.path).expr;
  if (found === null || found === undefined) {
    return callOf('full', [], { shape: wanted.shape, value: 0, dtype: wanted.dtype });
  }
  const state = stateOf(found as Operand, wanted.dtype);
  requireType(state.type, wanted, leaf.path);
  return exprIn(frame, state);
}

function requireType(got: Type, wanted: Type, path: string): void {
  if (sameType(got, wanted)) return;
  throw new ShapeError({
    where: siteOr('customGradient'),
    got: `${formatType(got)} as the cotangent of ${path}`,
    expected: formatType(wanted),
  });
}

/**
 * The value, or objects and arrays of values, through which no derivative goes. Outside of programs the value itself.
 */
export function stopGradient<const T>(value: T): ResultOf<T> {
  return within(stopGradient, () => {
    const frame = currentFrame();
    return mapTree(value, isValueLeaf, (leaf, path) => {
      if (frame === undefined) return leaf;
      const written = writtenLeaf(frame, leaf, path);
      return valueOf(frame, stopOf(written.expr), written);
    }) as ResultOf<T>;
  }, ['stopGradient', arguments, 1]);
}
