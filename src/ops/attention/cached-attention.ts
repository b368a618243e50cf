import type { DimContext } from '../../core/dims/dim-context.ts';
import { type Dim, formatDim } from '../../core/dims/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import type { TensorTypeOf } from '../../core/contracts/primitive-function.ts';
import { dimsAttribute } from '../attributes.ts';
import { defineOp, tensor } from '../define-op.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { commonDType, formatType, operand, requireRank, requireShape } from '../operand-checks.ts';
import { attentionLoads, requireOneSize, requireSharedHeads } from './attention-checks.ts';

const NAME = 'cached_attention';
const CACHED = ['float32', 'float16', 'bfloat16', 'int8'] as const;

/**
 * Attention of new tokens to a cache that has room behind them. How much of it counts is an element, not a size, and
 * kernels read no more than that: no other length compiles anything. Elements of the cache are widened where they are read.
 */
export const cachedAttention = defineOp({
  name: NAME,
  kind: 'anchor',
  inputs: [
    tensor('query', FLOATS),
    tensor('key', CACHED),
    tensor('value', CACHED),
    tensor('first', ['int32']),
    tensor('key_scale', ['float32'], { optional: true }),
    tensor('value_scale', ['float32'], { optional: true }),
  ],
  attributes: {
    scale: { type: 'float', default: 1 },
    softcap: { type: 'float', default: 0, minimum: 0 },
    window: { type: 'int', default: 0, minimum: 0 },
    keys: { type: 'dims', default: [], minimum: 0 },
  },
  infer(inputs, attributes, dims) {
    const [query, key, value] = [operand(inputs, 0), operand(inputs, 1), operand(inputs, 2)];
    for (const [i, type] of [query, key, value].entries()) {
      requireRank(type, 4, `${NAME}: input ${['query', 'key', 'value'][i]}`);
    }
    const dim = (type: TensorTypeOf<Dim>, axis: number) => dims.of(type.shape[axis] ?? 0);
    const [batch, kvHeads, valueSize] = [dim(query, 0), dim(key, 1), dim(value, 3)];
    requireOneSize(attributes, ['keys'], NAME);
    const [count] = dimsAttribute(attributes, 'keys');
    for (const [type, width, name] of [
      [key, dim(query, 3), 'key'],
      [value, valueSize, 'value'],
    ] as const) {
      // There may be more rows than count.
      const rows = count === undefined ? dim(key, 2) : dims.max(dim(type, 2), dims.of(count));
      const where = `${NAME}: input ${name}`;
      requireShape(type, [batch, kvHeads, rows, width], { dims, where });
    }
    requireSharedHeads(dims, [dim(query, 1), kvHeads], NAME);
    requireShape(operand(inputs, 3), [batch], { dims, where: `${NAME}: input first` });
    commonDType([key, value], NAME);
    requireScales([inputs[4], inputs[5]], [key, value], dims);
    return { dtype: query.dtype, shape: [batch, dim(query, 1), dim(query, 2), valueSize] };
  },
  fusion: { loads: attentionLoads },
  lower: 'core',
  tolerance: { rtol: 1e-4, atol: 1e-5 },
});

/** Integers have a scale for each position and head, floats none. */
function requireScales<D extends Dim>(
  scales: readonly (TensorTypeOf<D> | undefined)[],
  caches: readonly TensorTypeOf<D>[],
  dims: DimContext<D>,
): void {
  for (const [i, cache] of caches.entries()) {
    const scale = scales[i];
    const where = `${NAME}: input ${i === 0 ? 'key_scale' : 'value_scale'}`;
    const shape = [...cache.shape.slice(0, 3), dims.of(1)];
    if (cache.dtype === 'int8' && scale !== undefined) {
      requireShape(scale, shape, { dims, where });
    } else if (cache.dtype === 'int8') {
      const expected = `float32 (${shape.map(formatDim).join(', ')}) for ${formatType(cache)}`;
      throw new ShapeError({ where, got: 'nothing', expected });
    } else if (scale !== undefined) {
      const expected = `nothing for ${formatType(cache)}`;
      throw new ShapeError({ where, got: formatType(scale), expected });
    }
  }
}
