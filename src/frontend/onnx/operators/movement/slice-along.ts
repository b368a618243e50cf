import type { Expr } from '../../../../compiler/ir/expr.ts';
import { type Dim, MAX_DIMENSION } from '../../../../core/dims/dim.ts';
import type { ImportNode } from '../../import-node.ts';

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

interface SliceAttributes {
  readonly starts: Dim[];
  readonly ends: Dim[];
  readonly steps: number[];
}

/** A slice of everything. Of a symbolic axis it goes to a number that no axis reaches. */
export function wholeSlice(shape: readonly Dim[]): SliceAttributes {
  return {
    starts: shape.map(() => 0),
    ends: shape.map((dim) => (typeof dim === 'number' ? dim : MAX_DIMENSION)),
    steps: shape.map(() => 1),
  };
}
