import type { HostTensor } from '../../core/host-tensor.ts';
import { elementCount } from '../../core/shape.ts';
import { operand } from '../operand-checks.ts';
import { axisOf } from './gather.ts';
import type { StaticReference } from '../op-reference.ts';

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
