import { projection } from '../compiler/ir/build.ts';
import type { Expr } from '../compiler/ir/expr.ts';
import { formatType, sameType, tensorType, type Type } from '../compiler/ir/type.ts';
import { ShapeError, UsageError } from '../core/errors.ts';
import { Tensor } from '../client/values/tensor.ts';
import { ArrayState, exprIn, hasState } from './array-state.ts';
import { siteOr } from './call-site.ts';
import { DataValue, dataIn, tracedData } from './data/data-value.ts';
import { NdArray, wrap } from './nd-array.ts';
import { type Operand, stateOf } from './operand.ts';
import type { Frame } from './trace.ts';
import { leavesOf, mapTree, zipTree } from './data/tree.ts';
import {
  type DataSpec,
  isLeafSpec,
  type LeafSpec,
  type Spec,
  typeOfLeaf,
} from './data/value-spec.ts';

export type Value = NdArray | DataValue;

/** Returns true for a leaf of a body's result: a value, or an operand that becomes one. */
export function isValueLeaf(value: unknown): value is Operand | DataValue {
  return (
    value instanceof DataValue ||
    value instanceof Tensor ||
    hasState(value) ||
    ArrayBuffer.isView(value) ||
    /^(number|bigint|boolean)$/.test(typeof value)
  );
}

/** A leaf as an expression of a function that is being written down. */
export interface WrittenLeaf {
  readonly path: string;
  readonly expr: Expr;
  readonly type: Type;
  /** The type of the leaf, if it is data. */
  readonly spec: DataSpec | undefined;
}

export function exprsOf(leaves: readonly WrittenLeaf[]): Expr[] {
  return leaves.map(({ expr }) => expr);
}

/** The leaves of a tree of values in the function that is being written down. */
export function writtenLeaves(frame: Frame, tree: unknown): WrittenLeaf[] {
  return leavesOf(tree, isValueLeaf).map(({ path, leaf }) => written(frame, leaf, path));
}

function written(frame: Frame, leaf: Operand | DataValue, path: string): WrittenLeaf {
  if (leaf instanceof DataValue) {
    const expr = dataIn(frame, leaf);
    return { path, expr, type: typeOfLeaf(leaf.spec), spec: leaf.spec };
  }
  const state = stateOf(leaf);
  return { path, expr: exprIn(frame, state), type: state.type, spec: undefined };
}

/** Values of given types, where numbers take the dtype that is wanted. */
export function writtenAs(
  frame: Frame,
  spec: Spec,
  { given, where }: { readonly given: unknown; readonly where: string },
): WrittenLeaf[] {
  return zipTree(spec, isLeafSpec, { given, where }).map(({ path, leaf, value }) => {
    if (!isValueLeaf(value) && !Array.isArray(value)) throw wrongLeaf(leaf, value, path || where);
    if (leaf.kind === 'data') {
      if (!(value instanceof DataValue) || value.spec.name !== leaf.name) {
        throw wrongLeaf(leaf, value, path || where);
      }
      return written(frame, value, path);
    }
    if (value instanceof DataValue) throw wrongLeaf(leaf, value, path || where);
    const state = stateOf(value as Operand, leaf.dtype);
    return { path, expr: exprIn(frame, state), type: state.type, spec: undefined };
  });
}

/** Throws for a value that is no leaf of the type. */
export function wrongLeaf(leaf: LeafSpec, value: unknown, place: string): UsageError {
  const got = value instanceof DataValue ? `a ${value.spec.name}` : describe(value);
  return new UsageError({
    where: siteOr(place),
    got: `${got} for ${place}`,
    expected: formatType(typeOfLeaf(leaf)),
  });
}

function describe(value: unknown): string {
  if (value instanceof NdArray) return String(value);
  return value === null || value === undefined ? String(value) : `a ${typeof value}`;
}

export function valueOf(
  frame: Frame,
  expr: Expr,
  leaf: { type: Type; spec?: DataSpec | undefined },
): Value {
  const { type, spec } = leaf;
  if (spec !== undefined) return tracedData(spec, { expr, type, frame });
  if (type.kind !== 'tensor') throw new Error(`internal: a value of type ${formatType(type)}`);
  return wrap(new ArrayState({ expr, type: tensorType(type), frame }));
}

/**
 * A tree of values like another one, of an expression that holds them, one value or a tuple, or of those of the
 * leaves.
 */
export function unbundle(
  frame: Frame,
  expr: Expr | undefined,
  { tree, leaves }: { readonly tree: unknown; readonly leaves: readonly WrittenLeaf[] },
): unknown {
  let next = 0;
  return mapTree(tree, isValueLeaf, () => {
    const leaf = leaves[next];
    if (leaf === undefined) throw new Error('internal: a tree with more leaves than values');
    const index = next++;
    if (expr === undefined) return valueOf(frame, leaf.expr, leaf);
    return valueOf(frame, leaves.length === 1 ? expr : projection(expr, index), leaf);
  });
}

/** The leaves of a tree, in which a number has the dtype of the leaf of another tree in its place. */
export function writtenLike(
  frame: Frame,
  tree: unknown,
  like: readonly WrittenLeaf[],
): WrittenLeaf[] {
  return leavesOf(tree, isValueLeaf).map(({ path, leaf }, index) => {
    const other = like[index]?.type;
    const isNumber = /^(number|bigint|boolean)$/.test(typeof leaf);
    if (!isNumber || other?.kind !== 'tensor') return written(frame, leaf, path);
    return written(frame, wrap(stateOf(leaf as Operand, other.dtype)), path);
  });
}

/**
 * Throws ShapeError where two trees have not the same leaves of the same types; of `kinds` only dtype and rank have
 * to be the same.
 */
export function requireSameLeaves(
  ...[got, expected, where, compared = 'types']: readonly [
    got: readonly WrittenLeaf[],
    expected: readonly WrittenLeaf[],
    where: string,
    compared?: 'types' | 'kinds',
  ]
): void {
  const text = (leaves: readonly WrittenLeaf[]): string =>
    leaves
      .map(({ path, type }) => (path === '' ? formatType(type) : `${path}: ${formatType(type)}`))
      .join(', ') || 'nothing';
  const isSame =
    got.length === expected.length &&
    got.every(({ path, type }, i) => {
      const other = expected[i];
      if (other === undefined || path !== other.path) return false;
      return compared === 'kinds' ? sameKind(type, other.type) : sameType(type, other.type);
    });
  if (isSame) return;
  throw new ShapeError({
    where: siteOr(where),
    got: text(got),
    expected: `${text(expected)} for ${where}`,
    remedy: 'Sizes and dtypes have to be the same; astype and reshape change them.',
  });
}

function sameKind(a: Type, b: Type): boolean {
  if (a.kind !== 'tensor' || b.kind !== 'tensor') return sameType(a, b);
  return a.dtype === b.dtype && a.shape.length === b.shape.length;
}
