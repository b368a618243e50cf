import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import type { ImportNode } from '../../import-node.ts';
import { number } from '../elementwise/elementwise.ts';

/** `count` positions from 0, int32: a constant where their number is known. */
export function positions(node: ImportNode, count: Dim): Expr {
  if (typeof count === 'number') return node.table('int32', [count], (i) => i);
  const range = node.call('arange', [], { start: [0], size: [count] });
  return node.call('cast', [range], { to: 'int32' });
}

/** A dimension as an int32 tensor of rank 0. */
export function dimScalar(node: ImportNode, dim: Dim): Expr {
  if (typeof dim === 'number') return node.scalar(dim, 'int32');
  const vector = node.call('dims_tensor', [], { dims: [dim] });
  return node.reshape(node.call('cast', [vector], { to: 'int32' }), []);
}

interface Band {
  readonly queries: Dim;
  readonly keys: Dim;
  /** The position of the first query, int32, which broadcasts with (queries, 1). */
  readonly first: Expr;
  /** How many keys before its own a query attends to; all where absent. */
  readonly window?: number | undefined;
}

/** Which keys are no later than a query, and within its window: bool (..., queries, keys). */
export function causalMask(node: ImportNode, { queries, keys, first, window }: Band): Expr {
  const rows = node.call('add', [node.reshape(positions(node, queries), [queries, 1]), first]);
  const columns = node.reshape(positions(node, keys), [1, keys]);
  const isPast = node.call('less_equal', [columns, rows]);
  if (window === undefined) return isPast;
  const farthest = node.call('sub', [rows, node.scalar(window, 'int32')]);
  const isNear = node.call('greater_equal', [columns, farthest]);
  return node.call('bitwise_and', [isPast, isNear]);
}

/** Keys before the end of each sequence: bool (batch, 1, 1, keys), of lengths of any integer dtype. */
export function paddingMask(node: ImportNode, lengths: Expr, keys: Dim): Expr {
  const ends = asInt32(node, lengths);
  const [batch = 1] = node.shape(lengths);
  const columns = node.reshape(positions(node, keys), [1, 1, 1, keys]);
  return node.call('less', [columns, node.reshape(ends, [batch, 1, 1, 1])]);
}

export function asInt32(node: ImportNode, x: Expr): Expr {
  const tensor = node.tensor(x);
  return node.type(tensor).dtype === 'int32'
    ? tensor
    : node.call('cast', [tensor], { to: 'int32' });
}

/** 0 where the mask holds, else `otherwise`, in the dtype of another tensor. */
export function maskBias(
  node: ImportNode,
  mask: Expr,
  { like, otherwise = -Infinity }: { readonly like: Expr; readonly otherwise?: number },
): Expr {
  return node.call('where', [mask, number(node, like, 0), number(node, like, otherwise)]);
}

/** The sum of what is there. */
export function addBiases(
  node: ImportNode,
  biases: readonly (Expr | undefined)[],
): Expr | undefined {
  const present = biases.filter((bias) => bias !== undefined);
  return present.length === 0 ? undefined : node.chain('add', present);
}
