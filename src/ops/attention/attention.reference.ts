import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { CONCRETE_DIMS } from '../../core/dims/dim-context.ts';
import { float16ToNumber } from '../../core/tensor/float16.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { type Shape, elementCount } from '../../core/tensor/shape.ts';
import {
  numberToSmallFloat,
  smallFloatToNumber,
  isSmallFloat,
} from '../../core/tensor/small-floats.ts';
import { dimsAttribute, floatAttribute, intAttribute } from '../attributes.ts';
import { floatElements } from '../elements.ts';
import { broadcastStrides } from '../elementwise/gather-broadcast.ts';
import { multiplyMatrices, packStrided } from '../linear/matrix-product.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import { INPUTS, sizesOf } from './linear-attention.ts';

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

/** Computes in double precision, one column of the state after the other. */
export const linearAttentionReference: StaticReference = {
  reference(inputs, attributes, output) {
    const sizes = sizesOf(inputs, attributes, CONCRETE_DIMS);
    const { batch, positions, heads, kvHeads, keySize, valueSize } = sizes;
    const [query, key, value, initial, gate, erase] = INPUTS.map((_, i) => {
      const input = inputs[i];
      return input && floatElements(input);
    });
    const y = floatElements(output);
    const outputs = batch * positions * heads * valueSize;
    const group = heads / kvHeads;
    for (let i = 0; i < batch * kvHeads * valueSize; i++) {
      const column = i % valueSize;
      const at = Math.floor(i / valueSize);
      const [sequence, head] = [Math.floor(at / kvHeads), at % kvHeads];
      const place = (k: number): number => (at * keySize + k) * valueSize + column;
      const state = Float64Array.from({ length: keySize }, (_, k) => initial?.[place(k)] ?? 0);
      for (let t = 0; t < positions; t++) {
        const position = sequence * positions + t;
        const row = position * kvHeads + head;
        let added = value?.[row * valueSize + column] ?? 0;
        for (let k = 0; k < keySize; k++) {
          const kept = (state[k] ?? 0) * (gate?.[row * keySize + k] ?? 1);
          state[k] = kept;
          if (erase) added -= kept * (erase[row * keySize + k] ?? 0);
        }
        for (let k = 0; k < keySize; k++) {
          state[k] = (state[k] ?? 0) + (key?.[row * keySize + k] ?? 0) * added;
        }
        for (let g = 0; g < group; g++) {
          const queryRow = position * heads + head * group + g;
          let sum = 0;
          for (let k = 0; k < keySize; k++) {
            sum += (state[k] ?? 0) * (query?.[queryRow * keySize + k] ?? 0);
          }
          y[queryRow * valueSize + column] = sum;
        }
      }
      for (let k = 0; k < keySize; k++) y[outputs + place(k)] = state[k] ?? 0;
    }
  },
};

/** Row by row in double precision; of the cache a row at a time is widened, and none behind the last that counts. */
export const cachedAttentionReference: StaticReference = {
  takesBits: true,
  reference(inputs, attributes, output) {
    const [query, key, value, first] = [0, 1, 2, 3].map((i) => operand(inputs, i));
    if (!(query && key && value && first) || elementCount(output.shape) === 0) return;
    const [batch = 0, heads = 1, queries = 1, size = 1] = query.shape;
    const [, kvHeads = 1, pitch = 0] = key.shape;
    const [keys = pitch] = dimsAttribute(attributes, 'keys').map(Number);
    const valueSize = output.shape[3] ?? 0;
    const window = intAttribute(attributes, 'window');
    const [q, y] = [rowsOf(query), writerOf(output)];
    const [k, v] = [rowsOf(key, inputs[4]), rowsOf(value, inputs[5])];
    const group = (heads / kvHeads) * queries;
    for (let row = 0; row < batch * heads * queries; row++) {
      const at = Number(first.data[Math.floor(row / (heads * queries))] ?? 0) + (row % queries);
      const end = Math.min(at + 1, keys);
      const begin = window === 0 ? 0 : Math.max(0, at + 1 - window);
      const head = Math.floor(row / group);
      const own = q(row, size).slice();
      const weights: number[] = [];
      for (let j = begin; j < end; j++) {
        weights.push(scored(dot(own, k(head * pitch + j, size)), attributes));
      }
      toShares(weights);
      const sums = new Float64Array(valueSize);
      const valuePitch = value.shape[2] ?? 0;
      for (const [i, weight] of weights.entries()) {
        const line = v(head * valuePitch + begin + i, valueSize);
        for (let d = 0; d < valueSize; d++) sums[d] = (sums[d] ?? 0) + weight * (line[d] ?? 0);
      }
      y(row, sums);
    }
  },
};

/** Gives row i of a tensor of so many columns, in memory that the next row takes, too. */
function rowsOf(
  { dtype, data }: HostTensor,
  scale?: HostTensor,
): (row: number, columns: number) => Float64Array {
  let line = new Float64Array(0);
  const decode =
    dtype === 'float16'
      ? float16ToNumber
      : isSmallFloat(dtype)
        ? (bits: number) => smallFloatToNumber(dtype, bits)
        : Number;
  const factors = scale && rowsOf(scale);
  return (row, columns) => {
    if (line.length !== columns) line = new Float64Array(columns);
    const [factor = 1] = factors?.(row, 1) ?? [];
    for (let i = 0; i < columns; i++) line[i] = decode(Number(data[row * columns + i])) * factor;
    return line;
  };
}

function writerOf({ dtype, data }: HostTensor): (row: number, line: Float64Array) => void {
  const encode = isSmallFloat(dtype)
    ? (value: number) =>
        numberToSmallFloat(dtype, Math.fround(value), { saturate: false, roundMode: 'up' })
    : (value: number) => value;
  return (row, line) => {
    for (const [i, value] of line.entries()) data[row * line.length + i] = encode(value);
  };
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

function scored(product: number, attributes: Parameters<typeof floatAttribute>[0]): number {
  const score = product * floatAttribute(attributes, 'scale');
  const softcap = floatAttribute(attributes, 'softcap');
  return softcap > 0 ? softcap * Math.tanh(score / softcap) : score;
}

/** Scores become the weights that softmax gives them. */
function toShares(scores: number[]): void {
  const largest = scores.reduce((most, score) => Math.max(most, score), -Infinity);
  if (largest === -Infinity) {
    scores.fill(0);
    return;
  }
  let sum = 0;
  for (const [i, score] of scores.entries()) sum += scores[i] = Math.exp(score - largest);
  for (const [i, weight] of scores.entries()) scores[i] = weight / sum;
}
