import type { DimContext } from '../../core/dim-context.ts';
import { type Dim, formatDim } from '../../core/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import type { TensorTypeOf } from '../../core/primitive-function.ts';
import { intAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { isFloat } from '../elementwise/number-dtypes.ts';
import { formatType, operand } from '../operand-checks.ts';

/** A matrix product by weights of a few bits, which stay bit-packed. */
export const matmulNbits = defineOp({
  name: 'matmul_nbits',
  kind: 'anchor',
  inputs: [
    { name: 'a', dtypes: ['float32'] },
    { name: 'b', dtypes: ['uint8'] },
    { name: 'scales', dtypes: ['float32'] },
    { name: 'zeros', dtypes: ['uint8', 'float32'], optional: true },
  ],
  attributes: {
    bits: { type: 'int', default: 4, minimum: 2 },
    block_size: { type: 'int', default: 32, minimum: 16 },
  },
  infer(inputs, attributes, dims) {
    const [a, b] = [operand(inputs, 0), operand(inputs, 1)];
    const bits = intAttribute(attributes, 'bits');
    const blockSize = intAttribute(attributes, 'block_size');
    const depth = a.shape.at(-1);
    if (8 % bits !== 0 || blockSize % 16 !== 0 || depth === undefined || b.shape.length !== 3) {
      throw new ShapeError({
        where: 'matmul_nbits',
        got: `${bits} bits in blocks of ${blockSize}, ${formatType(a)} and ${formatType(b)}`,
        expected: '2, 4 or 8 bits, blocks of a multiple of 16, a of rank 1 or more and b of rank 3',
      });
    }
    const blocks = dims.floordiv(dims.add(depth, blockSize - 1), blockSize);
    const n = b.shape[0] ?? dims.of(0);
    requireShape(b, [n, blocks, (blockSize * bits) / 8], { name: 'b', dims });
    requireShape(operand(inputs, 2), [n, blocks], { name: 'scales', dims });
    const zeros = inputs[3];
    if (zeros !== undefined) {
      const each = isFloat(zeros.dtype) ? 1 : 8 / bits;
      const bytes = dims.floordiv(dims.add(blocks, each - 1), each);
      requireShape(zeros, [n, bytes], { name: 'zeros', dims });
    }
    return { dtype: a.dtype, shape: [...a.shape.slice(0, -1), n] };
  },
  lower: 'core',
  tolerance: { rtol: 1e-4, atol: 1e-4 },
});

function requireShape<D extends Dim>(
  type: TensorTypeOf<D>,
  shape: readonly (D | number)[],
  { name, dims }: { readonly name: string; readonly dims: DimContext<D> },
): void {
  const complaint = () => ({
    where: `matmul_nbits: input ${name}`,
    got: formatType(type),
    expected: `(${shape.map(formatDim).join(', ')})`,
  });
  if (type.shape.length !== shape.length) throw new ShapeError(complaint());
  for (const [axis, dim] of shape.entries()) {
    const size = type.shape[axis];
    if (size !== undefined) dims.requireEqual(size, dim, complaint);
  }
}
