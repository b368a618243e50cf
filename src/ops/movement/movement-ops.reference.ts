import { CONCRETE_DIMS } from '../../core/dim-context.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import { elementCount, rowMajorStrides } from '../../core/shape.ts';
import { floatAttribute, intsAttribute } from '../attributes.ts';
import { elementBits, fillElements } from '../elements.ts';
import { broadcastStrides } from '../elementwise/gather-broadcast.ts';
import type { OpReference, StaticReference } from '../op-reference.ts';
import { operand, present } from '../operand-checks.ts';
import { concatAxisOf } from './concat.ts';
import { axisOf } from './gather.ts';
import type { MovementName } from './movement-ops.ts';
import { padReference } from './pad.reference.ts';
import { sliceAxes } from './slice.ts';
import { copyStrided } from './strided-copy.ts';

const concatReference: StaticReference = {
  reference(inputs, attributes, output) {
    const axis = concatAxisOf(attributes, output.shape.length);
    const strides = rowMajorStrides(output.shape);
    const elements = elementBits(output);
    let offset = 0;
    for (const x of present(inputs)) {
      copyStrided(
        { elements: elementBits(x), offset: 0, strides: rowMajorStrides(x.shape) },
        { elements, offset, strides },
        x.shape,
      );
      offset += (x.shape[axis] ?? 0) * (strides[axis] ?? 0);
    }
  },
};

const transposeReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const own = rowMajorStrides(x.shape);
    const strides = intsAttribute(attributes, 'perm').map((axis) => own[axis] ?? 0);
    copyStrided(
      { elements: elementBits(x), offset: 0, strides },
      { elements: elementBits(output), offset: 0, strides: rowMajorStrides(output.shape) },
      output.shape,
    );
  },
};

const broadcastToReference: StaticReference = {
  reference(inputs, _, output) {
    const x = operand(inputs, 0);
    copyStrided(
      { elements: elementBits(x), offset: 0, strides: broadcastStrides(x.shape, output.shape) },
      { elements: elementBits(output), offset: 0, strides: rowMajorStrides(output.shape) },
      output.shape,
    );
  },
};

const sliceReference: StaticReference = {
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
      { elements: elementBits(output), offset: 0, strides: rowMajorStrides(output.shape) },
      output.shape,
    );
  },
};

const gatherReference: StaticReference = {
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

const fullReference: StaticReference = {
  reference(_, attributes, output) {
    fillElements(output, floatAttribute(attributes, 'value'));
  },
};

/** Those of the others follow from their index maps. */
export const MOVEMENT_REFERENCES = {
  transpose: transposeReference,
  broadcast_to: broadcastToReference,
  concat: concatReference,
  slice: sliceReference,
  gather: gatherReference,
  pad: padReference,
  full: fullReference,
} satisfies Record<Exclude<MovementName, 'reshape' | 'tile'>, OpReference>;
