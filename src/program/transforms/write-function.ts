import { isFloat } from '../../ops/elementwise/number-dtypes.ts';
import { UsageError } from '../../core/errors.ts';
import { func, variableOf } from '../../compiler/ir/build.ts';
import type { Expr, FunctionExpr } from '../../compiler/ir/expr.ts';
import { formatType, tensorType, type Type } from '../../compiler/ir/type.ts';
import { exprIn } from '../array-state.ts';
import { callUser, siteOr } from '../call-site.ts';
import { DataValue, dataIn } from '../data/data-value.ts';
import { type Operand, stateOf } from '../operand.ts';
import { bundle, Frame, inFrame } from '../trace.ts';
import { typeOfLeaf } from '../data/value-spec.ts';
import { valueOf, type WrittenLeaf, writtenLeaves } from '../values.ts';
import { type AnyFunction, mapArguments } from './function-arguments.ts';

/** A function as an expression, whose parameters are some of the leaves of its arguments. */
export interface WrittenFunction {
  readonly fn: FunctionExpr;
  /** The leaves that are its parameters; all others it captures. */
  readonly given: readonly WrittenLeaf[];
  readonly returned: unknown;
  readonly leaves: readonly WrittenLeaf[];
}

/** A value that stands for a leaf of the arguments in the frame of the function. */
export function writtenLeaf(frame: Frame, value: Operand | DataValue, path: string): WrittenLeaf {
  if (value instanceof DataValue) {
    const { spec } = value;
    return { path, expr: dataIn(frame, value), type: typeOfLeaf(spec), spec };
  }
  const state = stateOf(value);
  return { path, expr: exprIn(frame, state), type: state.type, spec: undefined };
}

/**
 * Writes a function down as a closure in the one whose body runs. `paramOf` tells the type of the parameter that a leaf
 * of the arguments becomes; undefined for one that the function captures.
 */
export function writeFunction(
  frame: Frame,
  { call, args }: { readonly call: AnyFunction; readonly args: readonly unknown[] },
  paramOf: (leaf: WrittenLeaf) => Type | undefined,
): WrittenFunction {
  const inner = new Frame(frame.trace, { frame, isClosure: true });
  const given: WrittenLeaf[] = [];
  const params: Expr[] = [];
  const own = mapArguments(args, (value, path) => {
    const leaf = writtenLeaf(frame, value, path);
    const type = paramOf(leaf);
    if (type === undefined) return valueOf(frame, leaf.expr, leaf);
    const param = variableOf(path.split('.').findLast((key) => !/^\d/.test(key)) ?? 'x', type);
    given.push(leaf);
    params.push(param);
    return valueOf(inner, param, { ...leaf, type });
  });
  return inFrame(inner, () => {
    const returned = callUser(() => call(...(own as never[])));
    const leaves = writtenLeaves(inner, returned);
    const fn = func(
      params.filter((param) => param.kind === 'var'),
      bundle(leaves.map(({ expr }) => expr)),
    );
    return { fn, given, returned, leaves };
  });
}

/** Returns true for a leaf with derivatives: floats, and data. */
export function hasDerivatives({ type }: Pick<WrittenLeaf, 'type'>): boolean {
  return type.kind === 'adt' || (type.kind === 'tensor' && isFloat(type.dtype));
}

/** Throws UsageError for a leaf whose derivative is asked for and that has none. */
export function requireDerivatives(leaf: WrittenLeaf, where: string): void {
  if (hasDerivatives(leaf)) return;
  throw new UsageError({
    where: siteOr(where),
    got: `${formatType(leaf.type)} as argument ${leaf.path}, which has no derivatives`,
    expected: 'floats',
    remedy: 'Say by argnums or argnames which arguments are wanted.',
  });
}

/** The type of a result that stands alone. */
export function typeOfLeaves(leaves: readonly WrittenLeaf[]): Type {
  const types = leaves.map(({ type }) => (type.kind === 'tensor' ? tensorType(type) : type));
  const [only] = types;
  return types.length === 1 && only !== undefined ? only : { kind: 'tuple', fields: types };
}
