import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import { dimsAttribute, floatAttribute } from '../attributes.ts';
import { broadcastStrides } from '../elementwise/gather-broadcast.ts';
import { floatElements } from '../elements.ts';
import { multiplyMatrices, packStrided } from '../linear/matrix-product.ts';
import { operand } from '../operand-checks.ts';
import type { StaticReference } from '../op-reference.ts';

/** Products in double precision, and softmax of all rows between them. */
export const scaledDotProductAttentionReference: StaticReference = {
  reference(inputs, attributes, output) {
    const [q, k, v] = [0, 1, 2].map((i) => floatElements(operand(inputs, i)));
    const y = floatElements(output);
    if (q === undefined || k === undefined || v === undefined || y.length === 0) return;
    const [batch = 0, heads = 1, queries = 1, size = 1] = operand(inputs, 0).shape;
    const [, kvHeads = 1, pitch = 0] = operand(inputs, 1).shape;
    const valuePitch = operand(inputs, 2).shape[2] ?? 0;
    const [keys = pitch] = dimsAttribute(attributes, 'keys').map(Number);
    const valueSize = output.shape[3] ?? 0;
    const rows = (heads / kvHeads) * queries;
    const weights = new Float64Array(rows * keys);
    const finish = rowSoftmax(inputs[3], attributes, [batch, heads, queries, keys]);
    for (let i = 0; i < batch * kvHeads; i++) {
      multiplyMatrices({
        m: rows,
        n: keys,
        k: size,
        packA: packStrided({
          elements: q,
          offset: i * rows * size,
          laneStride: size,
          depthStride: 1,
        }),
        packB: packStrided({
          elements: k,
          offset: i * pitch * size,
          laneStride: size,
          depthStride: 1,
        }),
        store(row, column, sum) {
          weights[row * keys + column] = sum;
        },
      });
      for (let row = 0; row < rows; row++) {
        finish(weights.subarray(row * keys, (row + 1) * keys), i * rows + row);
      }
      multiplyMatrices({
        m: rows,
        n: valueSize,
        k: keys,
        packA: packStrided({ elements: weights, offset: 0, laneStride: keys, depthStride: 1 }),
        packB: packStrided({
          elements: v,
          offset: i * valuePitch * valueSize,
          laneStride: 1,
          depthStride: valueSize,
        }),
        store(row, column, sum) {
          y[(i * rows + row) * valueSize + column] = sum;
        },
      });
    }
  },
};

/** Makes weights of the products of a row, in place. */
function rowSoftmax(
  bias: HostTensor | undefined,
  attributes: Attributes,
  shape: Shape,
): (row: Float64Array, index: number) => void {
  const [, heads = 1, queries = 1, keys = 0] = shape;
  const [scale, softcap] = [
    floatAttribute(attributes, 'scale'),
    floatAttribute(attributes, 'softcap'),
  ];
  const [first = keys] = dimsAttribute(attributes, 'causal').map(Number);
  const added = bias && floatElements(bias);
  const [byBatch = 0, byHead = 0, byQuery = 0, byKey = 0] = broadcastStrides(
    bias?.shape ?? [],
    shape,
  );
  return (row, index) => {
    const [head, query] = [Math.floor(index / queries), index % queries];
    const start = Math.floor(head / heads) * byBatch + (head % heads) * byHead + query * byQuery;
    let largest = -Infinity;
    for (let j = 0; j < keys; j++) {
      let score = (row[j] ?? 0) * scale;
      if (softcap > 0) score = softcap * Math.tanh(score / softcap);
      score += added?.[start + j * byKey] ?? 0;
      if (j > query + first) score = -Infinity;
      row[j] = score;
      largest = Math.max(largest, score);
    }
    if (largest === -Infinity) {
      row.fill(0);
      return;
    }
    let sum = 0;
    for (let j = 0; j < keys; j++) sum += row[j] = Math.exp((row[j] ?? 0) - largest);
    for (let j = 0; j < keys; j++) row[j] = (row[j] ?? 0) / sum;
  };
}
