import { CONCRETE_DIMS } from '../../core/dims/dim-context.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount, rowMajorStrides, type Shape } from '../../core/tensor/shape.ts';
import { floatAttribute, intsAttribute, stringAttribute } from '../attributes.ts';
import { elementBits, fillElements } from '../elements.ts';
import { broadcastStrides } from '../elementwise/gather-broadcast.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand, present } from '../operand-checks.ts';
import { concatAxisOf } from './concat.ts';
import { axisOf } from './gather.ts';
import { type KeptPart, paddedAxis } from './pad.ts';
import { sliceAxes } from './slice.ts';

/** Elements of a block of `shape` within a larger array: an offset and one stride per axis. */
interface StridedBlock {
  readonly elements: Uint32Array;
  readonly offset: number;
  readonly strides: readonly number[];
}

/** All elements of a tensor. */
const wholeBlock = (x: HostTensor): StridedBlock => ({
  elements: elementBits(x),
  offset: 0,
  strides: rowMajorStrides(x.shape),
});

/** Copies a block of `shape` element by element. Strides are in elements; they may be 0 or negative. */
function copyStrided(from: StridedBlock, to: StridedBlock, shape: Shape): void {
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

export const padReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    fillElements(output, floatAttribute(attributes, 'value'));
    const tables = output.shape.map((dim, axis) => {
      const from = paddedAxis(attributes, x.shape, axis);
      const mode = stringAttribute(attributes, 'mode');
      return Int32Array.from({ length: dim }, (_, i) => sourceIndex(i, from, mode));
    });
    gatherByAxis(elementBits(x), elementBits(output), { from: x.shape, to: output.shape, tables });
  },
};

/** The source of element `i` of the result, or -1 for one that is filled. */
function sourceIndex(i: number, { begin, size, shift }: KeptPart, mode: string): number {
  const index = i - shift;
  const within = (period: number) => ((index % period) + period) % period;
  if (mode === 'edge') return begin + Math.min(Math.max(index, 0), size - 1);
  if (mode === 'wrap') return begin + within(size);
  if (mode === 'reflect') {
    const period = Math.max(2 * (size - 1), 1);
    return begin + Math.min(within(period), period - within(period));
  }
  return index >= 0 && index < size ? begin + index : -1;
}

interface AxisTables {
  readonly from: Shape;
  readonly to: Shape;
  /** For each axis, the source index of each target index; -1 leaves the element as it is. */
  readonly tables: readonly Int32Array[];
}

function gatherByAxis(from: Uint32Array, to: Uint32Array, axes: AxisTables): void {
  const { tables } = axes;
  const rank = tables.length;
  const fromStrides = rowMajorStrides(axes.from);
  const toStrides = rowMajorStrides(axes.to);
  const last = tables[rank - 1] ?? Int32Array.of(0);
  const rows = last.length === 0 ? 0 : elementCount(axes.to) / last.length;
  for (let row = 0; row < rows; row++) {
    let rest = row * last.length;
    let base = 0;
    for (let axis = 0; axis < rank - 1 && base >= 0; axis++) {
      const coord = Math.floor(rest / (toStrides[axis] ?? 1));
      rest -= coord * (toStrides[axis] ?? 1);
      const index = tables[axis]?.[coord] ?? -1;
      base = index < 0 ? -1 : base + index * (fromStrides[axis] ?? 0);
    }
    if (base < 0) continue;
    for (let i = 0; i < last.length; i++) {
      const index = last[i] ?? -1;
      if (index >= 0) to[row * last.length + i] = from[base + index] ?? 0;
    }
  }
}

export const concatReference: StaticReference = {
  reference(inputs, attributes, output) {
    const axis = concatAxisOf(attributes, output.shape.length);
    const strides = rowMajorStrides(output.shape);
    const elements = elementBits(output);
    let offset = 0;
    for (const x of present(inputs)) {
      copyStrided(wholeBlock(x), { elements, offset, strides }, x.shape);
      offset += (x.shape[axis] ?? 0) * (strides[axis] ?? 0);
    }
  },
};

export const transposeReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const own = rowMajorStrides(x.shape);
    const strides = intsAttribute(attributes, 'perm').map((axis) => own[axis] ?? 0);
    copyStrided({ elements: elementBits(x), offset: 0, strides }, wholeBlock(output), output.shape);
  },
};

export const broadcastToReference: StaticReference = {
  reference(inputs, _, output) {
    const x = operand(inputs, 0);
    const strides = broadcastStrides(x.shape, output.shape);
    copyStrided({ elements: elementBits(x), offset: 0, strides }, wholeBlock(output), output.shape);
  },
};

export const sliceReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const strides = rowMajorStrides(x.shape);
    const axes = sliceAxes(x.shape, attributes, CONCRETE_DIMS);
    let offset = 0;
    for (const [axis, { start }] of axes.entries()) offset += start * (strides[axis] ?? 0);
    copyStrided(
      {
        elements: elementBits(x),
        offset,
        strides: axes.map(({ step }, axis) => step * (strides[axis] ?? 0)),
      },
      wholeBlock(output),
      output.shape,
    );
  },
};

export const gatherReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const axis = axisOf(attributes, x.shape.length);
    const size = x.shape[axis] ?? 0;
    const indices: ArrayLike<number | bigint> = operand(inputs, 1).data;
    const from = bytesOf(x);
    const to = bytesOf(output);
    const run = elementCount(x.shape.slice(axis + 1)) * x.data.BYTES_PER_ELEMENT;
    const outerCount = elementCount(x.shape.slice(0, axis));
    let at = 0;
    for (let outer = 0; outer < outerCount; outer++) {
      for (let i = 0; i < indices.length; i++) {
        const index = Number(indices[i] ?? 0);
        const place = index < 0 ? index + size : index;
        const begin = (outer * size + place) * run;
        if (place >= 0 && place < size) to.set(from.subarray(begin, begin + run), at);
        else to.fill(0, at, at + run);
        at += run;
      }
    }
  },
};

function bytesOf({ data }: HostTensor): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

export const fullReference: StaticReference = {
  reference(_, attributes, output) {
    fillElements(output, floatAttribute(attributes, 'value'));
  },
};
