import type { Shape } from '../../core/tensor/shape.ts';

/** A dimension of a loop nest, with the elements that each operand moves by in a round. */
export interface LoopDim {
  readonly size: number;
  readonly strides: readonly number[];
}

/**
 * The loops over a shape in which operands are broadcast, the outermost first: dimensions of 1 are left
 * out, and those that every operand walks through as one are one. Never empty.
 */
export function loopDims(shape: Shape, operands: readonly Shape[]): readonly LoopDim[] {
  const strides = operands.map((operand) => stridesIn(shape, operand));
  const dims: LoopDim[] = [];
  for (const [axis, size] of shape.entries()) {
    if (size === 1) continue;
    const dim = { size, strides: strides.map((of) => of[axis] ?? 0) };
    const outer = dims.at(-1);
    const isOne = outer?.strides.every((stride, i) => stride === (dim.strides[i] ?? 0) * size);
    if (outer === undefined || isOne !== true) dims.push(dim);
    else dims[dims.length - 1] = { ...dim, size: outer.size * size };
  }
  return dims.length === 0 ? [{ size: 1, strides: operands.map(() => 0) }] : dims;
}

/** The operand's stride along each axis of the shape; 0 where the operand is broadcast. */
function stridesIn(shape: Shape, operand: Shape): number[] {
  const strides = new Array<number>(shape.length).fill(0);
  let stride = 1;
  for (let i = 1; i <= operand.length; i++) {
    const size = operand.at(-i) ?? 1;
    if (size !== 1) strides[shape.length - i] = stride;
    stride *= size;
  }
  return strides;
}
