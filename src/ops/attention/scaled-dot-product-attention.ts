import type { DimContext } from '../../core/dims/dim-context.ts';
import { type Dim, formatDim } from '../../core/dims/dim.ts';
import type { TensorTypeOf } from '../../core/contracts/primitive-function.ts';
import { dimsAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import {
  commonDType,
  formatType,
  operand,
  present,
  requireBroadcastsTo,
  requireRank,
  requireShape,
} from '../operand-checks.ts';
import { attentionLoads, requireOneSize, requireSharedHeads } from './attention-checks.ts';

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
    requireOneSize(attributes, ['causal', 'keys'], NAME);
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
    requireSharedHeads(dims, [dims.of(heads), dims.of(kvHeads)], NAME);
    const all = [batch, heads, queries, value.shape[3] ?? 0].map((dim) => dims.of(dim));
    requireBias(inputs[3], [...all.slice(0, 3), keys], dims);
    return { dtype: commonDType(present(inputs), NAME), shape: all };
  },
  fusion: { loads: attentionLoads },
  lower: 'core',
  tolerance: { rtol: 1e-4, atol: 1e-5 },
});

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
