import type { DimContext } from '../../core/dim-context.ts';
import { type Dim, formatDim } from '../../core/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import type { Attributes, TensorTypeOf } from '../../core/primitive-function.ts';
import { elementCount } from '../../core/shape.ts';
import { dimsAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import type { LoweringCall } from '../lowering.ts';
import {
  commonDType,
  formatType,
  operand,
  present,
  requireBroadcastsTo,
  requireRank,
  requireShape,
} from '../operand-checks.ts';

const NAME = 'scaled_dot_product_attention';
const INPUTS = ['query', 'key', 'value', 'bias'];

/** softmax(query keyᵀ scale + bias) value: A. Vaswani et al., "Attention Is All You Need" (2017). */
export const scaledDotProductAttention = defineOp({
  name: NAME,
  kind: 'anchor',
  inputs: INPUTS.map((name, i) => ({ name, dtypes: FLOATS, ...(i > 2 ? { optional: true } : {}) })),
  attributes: {
    scale: { type: 'float', default: 1 },
    softcap: { type: 'float', default: 0, minimum: 0 },
    causal: { type: 'dims', default: [], minimum: 0 },
    keys: { type: 'dims', default: [], minimum: 0 },
  },
  infer(inputs, attributes, dims) {
    const [query, key, value] = [0, 1, 2].map((i) => operand(inputs, i));
    if (query === undefined || key === undefined || value === undefined) return operand(inputs, 0);
    for (const [i, type] of [query, key, value].entries()) {
      requireRank(type, 4, `${NAME}: input ${INPUTS[i] ?? ''}`);
    }
    const [batch = 0, heads = 0, queries = 0, size = 0] = query.shape;
    const [, kvHeads = 0, length = 0] = key.shape;
    requireOneSize(attributes);
    const [count] = dimsAttribute(attributes, 'keys');
    const keys = dims.of(count ?? length);
    for (const [i, type] of [key, value].entries()) {
      // There may be more than count.
      const rows = count === undefined ? keys : dims.max(dims.of(type.shape[2] ?? 0), keys);
      const expected = [batch, kvHeads, rows, i === 0 ? size : (type.shape[3] ?? 0)];
      requireShape(
        type,
        expected.map((dim) => dims.of(dim)),
        { dims, where: `${NAME}: input ${INPUTS[i + 1] ?? ''}` },
      );
    }
    requireSharedHeads(dims, dims.of(heads), dims.of(kvHeads));
    const all = [batch, heads, queries, value.shape[3] ?? 0].map((dim) => dims.of(dim));
    requireBias(inputs[3], [...all.slice(0, 3), keys], dims);
    return { dtype: commonDType(present(inputs), NAME), shape: all };
  },
  fusion: { loads: attentionLoads },
  lower: 'core',
  tolerance: { rtol: 1e-4, atol: 1e-5 },
});

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
      expected: `a shape that broadcasts to (${scores.map(formatDim).join(', ')})`,
    }),
  });
}

function requireOneSize(attributes: Attributes): void {
  for (const name of ['causal', 'keys']) {
    const { length } = dimsAttribute(attributes, name);
    if (length <= 1) continue;
    const where = `${NAME}: attribute ${name}`;
    throw new ShapeError({ where, got: `${length} numbers`, expected: 'one or none' });
  }
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
