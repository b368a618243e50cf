import type { DimContext } from '../../core/dims/dim-context.ts';
import type { Dim } from '../../core/dims/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import type { Attributes, TensorTypeOf } from '../../core/contracts/primitive-function.ts';
import { intAttribute } from '../attributes.ts';
import { defineOp, tensor } from '../define-op.ts';
import { isFloat } from '../elementwise/number-dtypes.ts';
import { formatType, operand, requireShape } from '../operand-checks.ts';

const ATTRIBUTES = {
  bits: { type: 'int', default: 4, minimum: 2 },
  block_size: { type: 'int', default: 32, minimum: 16 },
} as const;

/** A matrix product by weights of a few bits, which stay bit-packed. */
export const matmulNbits = defineOp({
  name: 'matmul_nbits',
  kind: 'anchor',
  inputs: [
    tensor('a', ['float32']),
    tensor('b', ['uint8']),
    tensor('scales', ['float32']),
    tensor('zeros', ['uint8', 'float32'], { optional: true }),
  ],
  attributes: ATTRIBUTES,
  infer(inputs, attributes, dims) {
    const [a, b, scales] = [operand(inputs, 0), operand(inputs, 1), operand(inputs, 2)];
    const weights = { b, scales, zeros: inputs[3], matrices: [] };
    const n = columnsOf(a, weights, { name: 'matmul_nbits', attributes, dims });
    return { dtype: a.dtype, shape: [...a.shape.slice(0, -1), n] };
  },
  lower: 'core',
  tolerance: { rtol: 1e-4, atol: 1e-4 },
});

/** Products of rows by those matrices of a few bits that indices name, as experts are chosen. */
export const gatherMatmulNbits = defineOp({
  name: 'gather_matmul_nbits',
  kind: 'anchor',
  inputs: [
    tensor('a', ['float32']),
    tensor('b', ['uint8']),
    tensor('scales', ['float32']),
    tensor('indices', ['int32']),
    tensor('zeros', ['uint8', 'float32'], { optional: true }),
  ],
  attributes: ATTRIBUTES,
  infer(inputs, attributes, dims) {
    const [a, b, scales] = [operand(inputs, 0), operand(inputs, 1), operand(inputs, 2)];
    const weights = { b, scales, zeros: inputs[4], matrices: b.shape.slice(0, 1) };
    const name = 'gather_matmul_nbits';
    const n = columnsOf(a, weights, { name, attributes, dims });
    const rows = a.shape.slice(0, -1);
    requireShape(operand(inputs, 3), rows, { where: `${name}: input indices`, dims });
    return { dtype: a.dtype, shape: [...rows, n] };
  },
  lower: 'core',
  tolerance: { rtol: 1e-4, atol: 1e-4 },
});

interface CodedWeights<D extends Dim> {
  readonly b: TensorTypeOf<D>;
  readonly scales: TensorTypeOf<D>;
  readonly zeros: TensorTypeOf<D> | undefined;
  /** The sizes before those of one matrix. */
  readonly matrices: readonly D[];
}

interface InferredCall<D extends Dim> {
  readonly name: string;
  readonly attributes: Attributes;
  readonly dims: DimContext<D>;
}

/** The columns of the matrices by which rows are multiplied. Throws ShapeError. */
function columnsOf<D extends Dim>(
  a: TensorTypeOf<D>,
  { b, scales, zeros, matrices }: CodedWeights<D>,
  { name, attributes, dims }: InferredCall<D>,
): D {
  const bits = intAttribute(attributes, 'bits');
  const blockSize = intAttribute(attributes, 'block_size');
  const depth = a.shape.at(-1);
  const rank = matrices.length + 3;
  if (8 % bits !== 0 || blockSize % 16 !== 0 || depth === undefined || b.shape.length !== rank) {
    throw new ShapeError({
      where: name,
      got: `${bits} bits in blocks of ${blockSize}, ${formatType(a)} and ${formatType(b)}`,
      expected: `2, 4 or 8 bits, blocks of a multiple of 16, a of rank 1 or more and b of rank ${rank}`,
    });
  }
  const blocks = dims.floordiv(dims.add(depth, blockSize - 1), blockSize);
  const n = b.shape[matrices.length] ?? dims.of(0);
  const lead = [...matrices, n];
  const at = (input: string) => ({ where: `${name}: input ${input}`, dims });
  requireShape(b, [...lead, blocks, (blockSize * bits) / 8], at('b'));
  requireShape(scales, [...lead, blocks], at('scales'));
  if (zeros !== undefined) {
    const each = isFloat(zeros.dtype) ? 1 : 8 / bits;
    const bytes = dims.floordiv(dims.add(blocks, each - 1), each);
    requireShape(zeros, [...lead, bytes], at('zeros'));
  }
  return n;
}
