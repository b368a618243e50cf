import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { broadcastShapes, elementCount } from '../../core/tensor/shape.ts';
import { boolAttribute, floatAttribute } from '../attributes.ts';
import { floatElements } from '../elements.ts';
import { broadcastStrides } from '../elementwise/gather-broadcast.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import { gemmSizes } from './gemm.ts';
import { multiplyMatrices, packStrided } from './matrix-product.ts';

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

export const gemmReference: StaticReference = {
  reference(inputs, attributes, output) {
    const a = operand(inputs, 0);
    const b = operand(inputs, 1);
    const c = inputs[2];
    const { m, n, aDepth: k } = gemmSizes(a, b, attributes);
    const alpha = floatAttribute(attributes, 'alpha');
    const beta = floatAttribute(attributes, 'beta');
    const aStrides = boolAttribute(attributes, 'trans_a') ? [1, m] : [k, 1];
    const bStrides = boolAttribute(attributes, 'trans_b') ? [k, 1] : [1, n];
    const bias = c === undefined ? undefined : floatElements(c);
    const [rowStride = 0, columnStride = 0] = broadcastStrides(c?.shape ?? [], [m, n]);
    const target = floatElements(output);
    multiplyMatrices({
      m,
      n,
      k,
      packA: packMatrix(a, aStrides),
      packB: packMatrix(b, bStrides),
      store(row, column, sum) {
        const added = bias?.[row * rowStride + column * columnStride] ?? 0;
        target[row * n + column] = alpha * sum + beta * added;
      },
    });
  },
};

function packMatrix(tensor: HostTensor, [laneStride = 1, depthStride = 1]: readonly number[]) {
  return packStrided({ elements: floatElements(tensor), offset: 0, laneStride, depthStride });
}

export const detReference: StaticReference = {
  reference(inputs, _, output) {
    const x = operand(inputs, 0);
    const size = x.shape.at(-1) ?? 0;
    const elements = floatElements(x);
    const results = floatElements(output);
    for (let i = 0; i < results.length; i++) {
      const matrix = elements.subarray(i * size * size, (i + 1) * size * size);
      results[i] = determinant(Float64Array.from(matrix), size);
    }
  },
};

function determinant(matrix: Float64Array, size: number): number {
  const at = (row: number, column: number): number => matrix[row * size + column] ?? 0;
  let product = 1;
  for (let k = 0; k < size; k++) {
    let pivot = k;
    for (let r = k + 1; r < size; r++) {
      if (Math.abs(at(r, k)) > Math.abs(at(pivot, k))) pivot = r;
    }
    if (at(pivot, k) === 0) return 0;
    if (pivot !== k) {
      const row = matrix.slice(k * size, (k + 1) * size);
      matrix.copyWithin(k * size, pivot * size, (pivot + 1) * size);
      matrix.set(row, pivot * size);
      product = -product;
    }
    product *= at(k, k);
    for (let r = k + 1; r < size; r++) {
      const factor = at(r, k) / at(k, k);
      for (let c = k; c < size; c++) matrix[r * size + c] = at(r, c) - factor * at(k, c);
    }
  }
  return product;
}
