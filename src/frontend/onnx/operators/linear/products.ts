import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { ImportNode } from '../../import-node.ts';

/**
 * The matrix product (..., m, k) by (..., k, n): one kernel for floats, an outer product and a sum
 * for integers, and a product of elements where k is 1.
 */
export function multiplyAndSum(node: ImportNode, a: Expr, b: Expr): Expr {
  if (node.shape(a).at(-1) === 1) return node.call('mul', [a, b]);
  if (node.type(a).dtype.startsWith('float')) return node.call('matmul', [a, b]);
  const [aShape, bShape] = [node.shape(a), node.shape(b)];
  const left = node.reshape(a, [...aShape, 1]);
  const right = node.reshape(b, [...bShape.slice(0, -2), 1, ...bShape.slice(-2)]);
  const products = node.call('mul', [left, right]);
  const axis = node.shape(products).length - 2;
  return node.call('reduce_sum', [products], { axes: [axis], keepdims: false });
}

/** The matrix product with numpy's rules: a vector is a row on the left, a column on the right. */
export function multiply(node: ImportNode, a: Expr, b: Expr): Expr {
  if (node.type(a).dtype.startsWith('float')) return node.call('matmul', [a, b]);
  const [aShape, bShape] = [node.shape(a), node.shape(b)];
  const isRow = aShape.length === 1;
  const isColumn = bShape.length === 1;
  const left = isRow ? node.reshape(a, [1, ...aShape]) : a;
  const right = isColumn ? node.reshape(b, [...bShape, 1]) : b;
  const product = multiplyAndSum(node, left, right);
  const shape = node.shape(product);
  const kept = shape.slice(0, -2);
  if (!isRow) kept.push(shape.at(-2) ?? 1);
  if (!isColumn) kept.push(shape.at(-1) ?? 1);
  return isRow || isColumn ? node.reshape(product, kept) : product;
}
