import type { DimContext } from '../../core/dim-context.ts';
import { type Dim, formatDim } from '../../core/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes, TensorTypeOf } from '../../core/primitive-function.ts';
import { elementCount, type Shape } from '../../core/shape.ts';
import { dimsAttribute, floatAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { broadcastStrides } from '../elementwise/elementwise-reference.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { floatElements } from '../elements.ts';
import { multiplyMatrices, packStrided } from '../linear/matrix-product.ts';
import type { LoweringCall, Operands } from '../lowering.ts';
import {
  commonDType,
  formatType,
  operand,
  present,
  requireBroadcastsTo,
  requireRank,
} from '../operand-checks.ts';
import { lowerAttention } from './attention-lowering.ts';

const NAME = 'scaled_dot_product_attention';
const INPUTS = ['query', 'key', 'value', 'bias'];

/** softmax(query keyᵀ scale + bias) value: A. Vaswani et al., "Attention Is All You Need" (2017). */
export const scaledDotProductAttention: OpDefinition = defineOp({
  name: NAME,
  kind: 'anchor',
  summary:
    'softmax(scale query keyᵀ + bias) value, of (B, heads, Q, D), (B, kv_heads, K, D), (B, kv_heads, ' +
    'K, V) and what broadcasts to (B, heads, Q, K); heads in a row share keys. With softcap, scores ' +
    'become softcap tanh(score / softcap) before the bias; with causal = [p], query i sees keys up to ' +
    'i + p. Where nothing is seen, the result is 0.',
  inputs: INPUTS.map((name, i) => ({ name, dtypes: FLOATS, ...(i > 2 ? { optional: true } : {}) })),
  attributes: {
    scale: { type: 'float', default: 1 },
    softcap: { type: 'float', default: 0, minimum: 0 },
    causal: { type: 'dims', default: [], minimum: 0 },
  },
  infer(inputs, attributes, dims) {
    const [query, key, value] = [0, 1, 2].map((i) => operand(inputs, i));
    if (query === undefined || key === undefined || value === undefined) return operand(inputs, 0);
    for (const [i, type] of [query, key, value].entries()) {
      requireRank(type, 4, `${NAME}: input ${INPUTS[i] ?? ''}`);
    }
    const [batch = 0, heads = 0, queries = 0, size] = query.shape;
    const [, kvHeads = 0, keys = 0] = key.shape;
    for (const [i, type] of [key, value].entries()) {
      requireShape(type, [batch, kvHeads, keys, i === 0 ? size : type.shape[3]], {
        dims,
        where: `${NAME}: input ${INPUTS[i + 1] ?? ''}`,
      });
    }
    requireSharedHeads(dims, dims.of(heads), dims.of(kvHeads));
    const all = [batch, heads, queries, value.shape[3] ?? 0].map((dim) => dims.of(dim));
    requireBias(inputs[3], [...all.slice(0, 3), dims.of(keys)], dims);
    requireOnePosition(attributes);
    return { dtype: commonDType(present(inputs), NAME), shape: all };
  },
  reference: attendByProducts,
  loads: attentionLoads,
  lower: lowerAttention,
  tolerance: { rtol: 1e-4, atol: 1e-5 },
  cases: () => [
    attentionCase([1, 1, 1, 1, 1, 1, 1]),
    attentionCase([2, 3, 3, 3, 17, 8, 8], { scale: 0.3 }),
    attentionCase([2, 4, 2, 63, 65, 16, 12], { causal: [2] }, [63, 65]),
    attentionCase([1, 6, 2, 65, 130, 64, 64], { scale: 0.125 }, [1, 6, 1, 130]),
    attentionCase([1, 2, 2, 130, 132, 40, 7], { scale: 0.2, softcap: 1.5 }, [1, 1, 130, 132]),
    attentionCase([1, 8, 2, 1, 650, 64, 64], { scale: 0.125 }, [1, 1, 1, 650]),
    attentionCase([2, 3, 3, 1, 516, 20, 36], { causal: [515] }),
    attentionCase([1, 2, 1, 3, 1300, 128, 128], { scale: 0.1, causal: [1297] }, [3, 1]),
    attentionCase([1, 1, 1, 2, 4, 300, 200], { scale: 0.05 }),
    attentionCase([1, 2, 2, 4, 0, 8, 8]),
    attentionCase([2, 2, 2, 0, 4, 8, 8]),
    maskedCase([-Infinity, -Infinity, -Infinity, -Infinity, 0, -Infinity, -3.4028234e38, -1e9]),
    maskedCase(new Array<number>(8).fill(-3.4028234663852886e38)),
  ],
  badCases: () => [
    attentionCase([1, 3, 2, 4, 4, 8, 8]),
    attentionCase([1, 2, 2, 4, 4, 8, 8], {}, [4, 5]),
    attentionCase([1, 2, 2, 4, 4, 8, 8], { causal: [1, 2] }),
    {
      title: 'of rank 3',
      inputs: [0, 1, 2].map(() => ({ dtype: 'float32', shape: [2, 4, 8] })),
    },
    {
      title: 'keys of another size',
      inputs: [8, 6, 8].map((size) => ({ dtype: 'float32', shape: [1, 2, 4, size] })),
    },
  ],
});

interface Requirement<D extends Dim> {
  readonly dims: DimContext<D>;
  readonly where: string;
}

function requireShape<D extends Dim>(
  type: { readonly shape: readonly D[] },
  expected: readonly (D | undefined)[],
  { dims, where }: Requirement<D>,
): void {
  for (const [axis, dim] of expected.entries()) {
    dims.requireEqual(type.shape[axis] ?? dims.of(0), dim ?? dims.of(0), () => ({
      where,
      got: `(${type.shape.map(formatDim).join(', ')})`,
      expected: `(${expected.map((of) => formatDim(of ?? 0)).join(', ')})`,
    }));
  }
}

function requireSharedHeads<D extends Dim>(dims: DimContext<D>, heads: D, kvHeads: D): void {
  if (dims.known(kvHeads) === 0) return;
  dims.requireEqual(dims.mod(heads, kvHeads), dims.of(0), () => ({
    where: NAME,
    got: `${formatDim(heads)} heads of queries`,
    expected: `a multiple of ${formatDim(kvHeads)}, the heads of keys`,
  }));
}

function requireBias<D extends Dim>(
  bias: TensorTypeOf<D> | undefined,
  scores: readonly D[],
  dims: DimContext<D>,
): void {
  if (bias === undefined) return;
  requireBroadcastsTo(bias, scores, {
    dims,
    complaint: () => ({
      where: `${NAME}: input bias`,
      got: formatType(bias),
      expected: `what broadcasts to (${scores.map(formatDim).join(', ')})`,
    }),
  });
}

function requireOnePosition(attributes: Attributes): void {
  const { length } = dimsAttribute(attributes, 'causal');
  if (length <= 1) return;
  throw new ShapeError({
    where: `${NAME}: attribute causal`,
    got: `${length} positions`,
    expected: 'that of the first query, or none',
  });
}

/** A tile of rows shares what it loads of keys and values, one of keys the queries. */
function attentionLoads(input: number, { inputs }: Omit<LoweringCall, 'caps'>): number {
  const [batch = 1, heads = 1, queries = 1] = inputs[0]?.shape ?? [];
  const keys = inputs[1]?.shape[2] ?? 1;
  if (input === 0) return Math.max(keys / 16, 1);
  if (input < 3) return Math.max((queries * heads) / (inputs[1]?.shape[1] ?? 1) / 16, 1);
  const size = elementCount(inputs[3]?.shape ?? []);
  return Math.max((batch * heads * queries * keys) / Math.max(size, 1), 1);
}

type Sizes = readonly [number, number, number, number, number, number, number];

/** Sizes: batch, heads, heads of keys, queries, keys, size, size of values. */
function attentionCase(sizes: Sizes, attributes: Attributes = {}, bias?: Shape): OpCase {
  const [batch, heads, kvHeads, queries, keys, size, valueSize] = sizes;
  const shapes = [
    [batch, heads, queries, size],
    [batch, kvHeads, keys, size],
    [batch, kvHeads, keys, valueSize],
    ...(bias === undefined ? [] : [bias]),
  ];
  const extras = `${JSON.stringify(attributes)}${bias === undefined ? '' : ` plus (${bias.join(', ')})`}`;
  return {
    title: `(${sizes.join(', ')}) ${extras}`,
    inputs: shapes.map((shape) => ({ dtype: 'float32', shape })),
    attributes,
  };
}

/** Two queries, four keys. */
function maskedCase(values: readonly number[]): OpCase {
  const { inputs } = attentionCase([1, 1, 1, 2, 4, 4, 4]);
  const mask = { dtype: 'float32', shape: [2, 4], values } as const;
  return { title: `masked by ${values.join(', ')}`, inputs: [...inputs, mask] };
}

/** Products in double precision, and softmax of all rows between them. */
function attendByProducts(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  output: HostTensor,
): void {
  const [q, k, v] = [0, 1, 2].map((i) => floatElements(operand(inputs, i)));
  const y = floatElements(output);
  if (q === undefined || k === undefined || v === undefined || y.length === 0) return;
  const [batch = 0, heads = 1, queries = 1, size = 1] = operand(inputs, 0).shape;
  const [, kvHeads = 1, keys = 0] = operand(inputs, 1).shape;
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
        offset: i * keys * size,
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
        offset: i * keys * valueSize,
        laneStride: 1,
        depthStride: valueSize,
      }),
      store(row, column, sum) {
        y[(i * rows + row) * valueSize + column] = sum;
      },
    });
  }
}

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
