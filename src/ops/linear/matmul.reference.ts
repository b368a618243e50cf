import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { broadcastShapes, elementCount } from '../../core/tensor/shape.ts';
import { broadcastStrides } from '../elementwise/gather-broadcast.ts';
import { floatElements } from '../elements.ts';
import { multiplyMatrices, packStrided } from './matrix-product.ts';
import { operand } from '../operand-checks.ts';
import type { StaticReference } from '../op-reference.ts';

export const matmulReference: StaticReference = {
  reference: (inputs, _, output) => multiplyBatches(operand(inputs, 0), operand(inputs, 1), output),
};

function multiplyBatches(a: HostTensor, b: HostTensor, output: HostTensor): void {
  const [m, k] =
    a.shape.length === 1 ? [1, a.shape[0] ?? 0] : [a.shape.at(-2) ?? 0, a.shape.at(-1) ?? 0];
  const n = b.shape.length === 1 ? 1 : (b.shape.at(-1) ?? 0);
  const [aBatch, bBatch] = [a.shape.slice(0, -2), b.shape.slice(0, -2)];
  const batch = broadcastShapes([aBatch, bBatch], 'matmul');
  const aOffsets = batchOffsets(aBatch, batch, m * k);
  const bOffsets = batchOffsets(bBatch, batch, k * n);
  const [x, y, z] = [floatElements(a), floatElements(b), floatElements(output)];
  for (let i = 0; i < aOffsets.length; i++) {
    const base = i * m * n;
    multiplyMatrices({
      m,
      n,
      k,
      packA: packStrided({ elements: x, offset: aOffsets[i] ?? 0, laneStride: k, depthStride: 1 }),
      packB: packStrided({ elements: y, offset: bOffsets[i] ?? 0, laneStride: 1, depthStride: n }),
      store(row, column, sum) {
        z[base + row * n + column] = sum;
      },
    });
  }
}

/** For each matrix of the broadcast batch, where it begins in the operand. */
function batchOffsets(from: readonly number[], batch: readonly number[], size: number): number[] {
  const strides = broadcastStrides(from, batch);
  return Array.from({ length: elementCount(batch) }, (_, index) => {
    let rest = index;
    let offset = 0;
    for (let axis = batch.length - 1; axis >= 0; axis--) {
      const dim = batch[axis] ?? 1;
      offset += (rest % dim) * (strides[axis] ?? 0) * size;
      rest = Math.floor(rest / dim);
    }
    return offset;
  });
}
