import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import type { ImportNode } from '../../import-node.ts';
import { cutAlong } from '../movement/slice-along.ts';

interface Rotation {
  /** The cosine for each position and pair, (batch or 1, positions, pairs). */
  readonly cos: Expr;
  readonly sin: Expr;
  /** How many heads an x of rank 3 has. */
  readonly heads: Dim;
  /** Pairs are neighbours; else halves of what is rotated. */
  readonly isInterleaved: boolean;
  /** How many elements of a head are rotated; 0 for all. */
  readonly rotated: number;
}

/**
 * Turns pairs of elements by angles of their position: J. Su et al., "RoFormer" (2021). x is
 * (batch, positions, heads * size) or (batch, heads, positions, size).
 */
export function rotate(node: ImportNode, x: Expr, rotation: Rotation): Expr {
  const shape = node.shape(x);
  const [batch = 1, positions = 1, width = 1] = shape;
  const isMerged = shape.length === 3;
  const heads = isMerged
    ? node.reshape(x, [batch, positions, rotation.heads, node.dims.floordiv(width, rotation.heads)])
    : x;
  const size = node.shape(heads)[3] ?? 0;
  const rotated: Dim = rotation.rotated === 0 ? size : rotation.rotated;
  const angles = [rotation.cos, rotation.sin].map((angle) => {
    const [count = 1, rows = 1, pairs = 1] = node.shape(angle);
    return node.reshape(angle, isMerged ? [count, rows, 1, pairs] : [count, 1, rows, pairs]);
  });
  const rest = node.dims.sub(size, rotated);
  if (rest === 0) return node.reshape(rotatePairs(node, heads, angles, rotation), shape);
  const [turning, still] = cutAlong(node, heads, { axis: 3, sizes: [rotated, rest] });
  if (turning === undefined || still === undefined) throw new Error('internal: no parts');
  const parts = [rotatePairs(node, turning, angles, rotation), still];
  return node.reshape(node.call('concat', parts, { axis: 3 }), shape);
}

function rotatePairs(
  node: ImportNode,
  x: Expr,
  ...[angles, { isInterleaved }]: [readonly Expr[], Rotation]
): Expr {
  const shape = node.shape(x);
  const [, , , size = 2] = shape;
  const half = node.dims.floordiv(size, 2);
  const pairs = isInterleaved ? node.reshape(x, [...shape.slice(0, 3), half, 2]) : x;
  const axis = isInterleaved ? 4 : 3;
  const width = isInterleaved ? 1 : half;
  const [first, second] = cutAlong(node, pairs, { axis, sizes: [width, width] });
  const [cos, sin] = angles.map((angle) =>
    isInterleaved ? node.reshape(angle, [...node.shape(angle), 1]) : angle,
  );
  if (first === undefined || second === undefined || cos === undefined || sin === undefined) {
    throw new Error('internal: no pairs');
  }
  const product = (a: Expr, b: Expr): Expr => node.call('mul', [a, b]);
  const real = node.call('sub', [product(cos, first), product(sin, second)]);
  const imaginary = node.call('add', [product(sin, first), product(cos, second)]);
  return node.reshape(node.call('concat', [real, imaginary], { axis }), shape);
}
