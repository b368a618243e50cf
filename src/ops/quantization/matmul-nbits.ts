import type { DimContext } from '../../core/dim-context.ts';
import { type Dim, formatDim } from '../../core/dim.ts';
import type { DType } from '../../core/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes, TensorTypeOf } from '../../core/primitive-function.ts';
import type { Shape } from '../../core/shape.ts';
import { intAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase, OpCaseInput } from '../op-cases.ts';
import { isFloat } from '../elementwise/number-dtypes.ts';
import { matmul } from '../linear/matmul.ts';
import type { Operands } from '../lowering.ts';
import { formatType, operand } from '../operand-checks.ts';
import { lowerMatmulNbits } from './matmul-nbits-lowering.ts';

/** A matrix product by weights of a few bits, which stay packed. */
export const matmulNbits: OpDefinition = defineOp({
  name: 'matmul_nbits',
  kind: 'anchor',
  summary:
    'a (..., k) times the transpose of a matrix of codes of 2, 4 or 8 bits in blocks along k: b ' +
    '(n, blocks, bytes) holds codes from the low bits up, (code - zero) * scale is an element. ' +
    'scales (n, blocks); zeros (n, blocks) floats, or (n, bytes) packed as b is, else half the range.',
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
  reference(inputs, attributes, output) {
    const a = operand(inputs, 0);
    const weights = dequantizedColumns(inputs, attributes, a.shape.at(-1) ?? 0);
    matmul.reference?.([a, weights], {}, output);
  },
  lower: lowerMatmulNbits,
  tolerance: { rtol: 1e-4, atol: 1e-4 },
  cases: () => [
    nbitsCase({ m: [1], n: 5, k: 32 }),
    nbitsCase({ m: [3], n: 7, k: 40, zeros: 'uint8' }),
    nbitsCase({ m: [2, 5], n: 9, k: 96, zeros: 'float32' }),
    nbitsCase({ m: [1], n: 130, k: 256, blockSize: 16, zeros: 'uint8' }),
    nbitsCase({ m: [1], n: 33, k: 300, blockSize: 128, bits: 8 }),
    nbitsCase({ m: [4], n: 11, k: 64, blockSize: 16, bits: 8, zeros: 'uint8' }),
    nbitsCase({ m: [2], n: 6, k: 100, blockSize: 16, bits: 2, zeros: 'uint8' }),
    nbitsCase({ m: [], n: 6, k: 512, blockSize: 256, bits: 2 }),
    nbitsCase({ m: [2], n: 65, k: 96, zeros: 'float32' }),
    nbitsCase({ m: [1], n: 517, k: 192, blockSize: 64, zeros: 'uint8' }),
    nbitsCase({ m: [3], n: 63, k: 2208, blockSize: 32, zeros: 'uint8' }),
    nbitsCase({ m: [4], n: 17, k: 80, blockSize: 16, bits: 2, zeros: 'float32' }),
    nbitsCase({ m: [17], n: 19, k: 72, zeros: 'uint8' }),
    nbitsCase({ m: [70], n: 66, k: 128, blockSize: 64 }),
    nbitsCase({ m: [2, 9], n: 24, k: 50, blockSize: 16, bits: 8, zeros: 'float32' }),
    nbitsCase({ m: [0], n: 4, k: 32 }),
  ],
  badCases: () => [
    { ...nbitsCase({ m: [2], n: 4, k: 32 }), title: '3 bits', attributes: { bits: 3 } },
    { ...nbitsCase({ m: [2], n: 4, k: 32 }), title: 'blocks', attributes: { block_size: 16 } },
    { ...nbitsCase({ m: [2], n: 4, k: 32 }), title: 'small', attributes: { block_size: 8 } },
    {
      title: 'zero points for other blocks',
      inputs: [...nbitsCase({ m: [2], n: 4, k: 32 }).inputs, { dtype: 'uint8', shape: [4, 2] }],
    },
  ],
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

/** The matrix (k, n) that the codes stand for. */
function dequantizedColumns(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  k: number,
): HostTensor {
  const [codes, scales] = [operand(inputs, 1).data, operand(inputs, 2).data];
  const [n = 0, blocks = 0, blockBytes = 0] = operand(inputs, 1).shape;
  const zeros = inputs[3];
  const zeroData = zeros?.data;
  const zeroRow = zeros?.shape.at(-1) ?? 0;
  const bits = intAttribute(attributes, 'bits');
  const blockSize = intAttribute(attributes, 'block_size');
  const zeroOf = (column: number, block: number): number => {
    if (zeros === undefined || zeroData === undefined) return 2 ** (bits - 1);
    if (isFloat(zeros.dtype)) return Number(zeroData[column * zeroRow + block]);
    return codeAt(zeroData, { start: column * zeroRow, index: block, bits });
  };
  const values = new Float32Array(k * n);
  for (let column = 0; column < n; column++) {
    for (let row = 0; row < k; row++) {
      const block = Math.floor(row / blockSize);
      const code = codeAt(codes, { start: column * blocks * blockBytes, index: row, bits });
      const scale = Number(scales[column * blocks + block]);
      values[row * n + column] = (code - zeroOf(column, block)) * scale;
    }
  }
  return new HostTensor('float32', [k, n], values);
}

interface CodePlace {
  readonly start: number;
  readonly index: number;
  readonly bits: number;
}

function codeAt(bytes: HostTensor['data'], { start, index, bits }: CodePlace): number {
  const byte = Number(bytes[start + Math.floor((index * bits) / 8)]);
  return (byte >> ((index * bits) % 8)) & (2 ** bits - 1);
}

interface NbitsCase {
  readonly m: Shape;
  readonly n: number;
  readonly k: number;
  readonly bits?: number;
  readonly blockSize?: number;
  readonly zeros?: DType;
}

function nbitsCase({ m, n, k, bits = 4, blockSize = 32, zeros }: NbitsCase): OpCase {
  const blocks = Math.ceil(k / blockSize);
  const isPacked = zeros === 'uint8';
  const zeroBytes = isPacked ? Math.ceil((blocks * bits) / 8) : blocks;
  const bytes: OpCaseInput['range'] = [0, 256];
  const inputs: OpCaseInput[] = [
    { dtype: 'float32', shape: [...m, k] },
    { dtype: 'uint8', shape: [n, blocks, (blockSize * bits) / 8], range: bytes },
    { dtype: 'float32', shape: [n, blocks], range: [0.01, 0.1] },
  ];
  if (zeros !== undefined) {
    const range = isPacked ? bytes : ([0, 2 ** bits] as const);
    inputs.push({ dtype: zeros, shape: [n, zeroBytes], range });
  }
  return {
    title: `(${[...m, k].join(', ')}) by ${n}, ${bits} bits in blocks of ${blockSize}, zeros ${zeros ?? 'none'}`,
    inputs,
    attributes: { bits, block_size: blockSize },
  };
}
