import { float16ToNumber } from '../../core/tensor/float16.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { numberToSmallFloat, smallFloatToNumber } from '../../core/tensor/small-floats.ts';
import { isSmallFloat } from '../../core/tensor/small-floats.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { dimsAttribute, floatAttribute, intAttribute } from '../attributes.ts';
import { operand } from '../operand-checks.ts';
import type { StaticReference } from '../op-reference.ts';

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
