import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { rowMajorStrides, type Shape } from '../../core/tensor/shape.ts';
import { elementBits } from '../elements.ts';

/** Elements of a block of `shape` within a larger array: an offset and one stride per axis. */
interface StridedBlock {
  readonly elements: Uint32Array;
  readonly offset: number;
  readonly strides: readonly number[];
}

/** All elements of a tensor. */
export const wholeBlock = (x: HostTensor): StridedBlock => ({
  elements: elementBits(x),
  offset: 0,
  strides: rowMajorStrides(x.shape),
});

/** Copies a block of `shape` element by element. Strides are in elements; they may be 0 or negative. */
export function copyStrided(from: StridedBlock, to: StridedBlock, shape: Shape): void {
  if (shape.includes(0)) return;
  const rank = shape.length;
  const coords = new Array<number>(rank).fill(0);
  const inner = shape[rank - 1] ?? 1;
  const fromStep = from.strides[rank - 1] ?? 0;
  const toStep = to.strides[rank - 1] ?? 0;
  let source = from.offset;
  let target = to.offset;
  for (;;) {
    copyRow(from.elements, to.elements, { source, target, fromStep, toStep, count: inner });
    let axis = rank - 2;
    for (; axis >= 0; axis--) {
      const next = (coords[axis] ?? 0) + 1;
      source += from.strides[axis] ?? 0;
      target += to.strides[axis] ?? 0;
      if (next < (shape[axis] ?? 1)) {
        coords[axis] = next;
        break;
      }
      source -= next * (from.strides[axis] ?? 0);
      target -= next * (to.strides[axis] ?? 0);
      coords[axis] = 0;
    }
    if (axis < 0) return;
  }
}

interface Row {
  readonly source: number;
  readonly target: number;
  readonly fromStep: number;
  readonly toStep: number;
  readonly count: number;
}

function copyRow(from: Uint32Array, to: Uint32Array, row: Row): void {
  const { fromStep, toStep, count } = row;
  if (fromStep === 1 && toStep === 1) {
    to.set(from.subarray(row.source, row.source + count), row.target);
    return;
  }
  let source = row.source;
  let target = row.target;
  for (let i = 0; i < count; i++) {
    to[target] = from[source] ?? 0;
    source += fromStep;
    target += toStep;
  }
}
