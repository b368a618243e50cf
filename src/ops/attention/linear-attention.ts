import type { DimContext } from '../../core/dims/dim-context.ts';
import type { Dim } from '../../core/dims/dim.ts';
import type { Attributes, TensorTypeOf } from '../../core/contracts/primitive-function.ts';
import { intAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import type { Operands } from '../lowering/lowering.ts';
import { commonDType, operand, present, requireShape } from '../operand-checks.ts';

const NAME = 'linear_attention';
export const INPUTS = ['query', 'key', 'value', 'initial', 'gate', 'erase'];

/**
 * Attention that keeps the sum of outer products of keys and values in place of both: A.
 * Katharopoulos et al., "Transformers are RNNs" (2020); with the delta rule S. Yang et al., "Gated
 * Delta Networks" (2024).
 */
export const linearAttention = defineOp({
  name: NAME,
  kind: 'anchor',
  inputs: INPUTS.map((name, i) => ({ name, dtypes: FLOATS, ...(i > 3 ? { optional: true } : {}) })),
  attributes: {
    heads: { type: 'int', minimum: 1 },
    kv_heads: { type: 'int', minimum: 1 },
  },
  infer(inputs, attributes, dims) {
    const sizes = sizesOf(inputs, attributes, dims);
    const { batch, positions, heads, kvHeads, keySize, valueSize } = sizes;
    const keys = [batch, positions, dims.mul(keySize, kvHeads)];
    const expected = [
      [batch, positions, dims.mul(keySize, heads)],
      keys,
      [batch, positions, dims.mul(valueSize, kvHeads)],
      [batch, dims.of(kvHeads), keySize, valueSize],
      keys,
      keys,
    ];
    for (const [i, type] of inputs.entries()) {
      const where = `${NAME}: input ${INPUTS[i] ?? ''}`;
      if (type !== undefined) requireShape(type, expected[i] ?? [], { dims, where });
    }
    const groups = dims.of(heads % kvHeads);
    dims.requireEqual(groups, dims.of(0), () => ({
      where: `${NAME}: attribute heads`,
      got: `${heads}`,
      expected: `a multiple of kv_heads, ${kvHeads}`,
    }));
    const rows = dims.add(dims.mul(positions, heads), dims.mul(keySize, kvHeads));
    return {
      dtype: commonDType(present(inputs), NAME),
      shape: [dims.mul(dims.mul(batch, rows), valueSize)],
    };
  },
  lower: 'core',
  tolerance: { rtol: 1e-4, atol: 1e-4 },
});

interface Sizes<D> {
  readonly batch: D;
  readonly positions: D;
  readonly heads: number;
  readonly kvHeads: number;
  readonly keySize: D;
  readonly valueSize: D;
}

export function sizesOf<D extends Dim>(
  inputs: Operands<Pick<TensorTypeOf<D>, 'shape'>>,
  attributes: Attributes,
  dims: DimContext<D>,
): Sizes<D> {
  const [batch = dims.of(0), positions = dims.of(0)] = operand(inputs, 1).shape;
  const [, , keySize = dims.of(0), valueSize = dims.of(0)] = operand(inputs, 3).shape;
  const [heads, kvHeads] = ['heads', 'kv_heads'].map((name) => intAttribute(attributes, name));
  return { batch, positions, heads: heads ?? 1, kvHeads: kvHeads ?? 1, keySize, valueSize };
}
