import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import type { ImportNode } from '../../import-node.ts';
import { wholeSlice } from './whole-slice.ts';

interface Part {
  readonly axis: number;
  readonly start: Dim;
  readonly end: Dim;
}

/** The part between two positions of an axis. */
export function sliceAlong(node: ImportNode, x: Expr, { axis, start, end }: Part): Expr {
  const part = wholeSlice(node.shape(x));
  part.starts[axis] = start;
  part.ends[axis] = end;
  return node.call('slice', [x], { ...part });
}

/** Cuts an axis into parts of the given sizes, from its begin. */
export function cutAlong(
  node: ImportNode,
  x: Expr,
  { axis, sizes }: { readonly axis: number; readonly sizes: readonly Dim[] },
): readonly Expr[] {
  let start: Dim = 0;
  return sizes.map((size) => {
    const end: Dim = node.dims.add(start, size);
    const part = sliceAlong(node, x, { axis, start, end });
    start = end;
    return part;
  });
}
