import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { intAttribute } from '../attributes.ts';
import { conv2dReference, conv3dReference } from '../convolution/convolution.reference.ts';
import { isFloat } from '../elementwise/number-dtypes.ts';
import { matmulReference } from '../linear/matmul.reference.ts';
import type { Operands } from '../lowering/lowering.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import { W, X, A, B } from './matmul-integer.ts';
import { axisSteps, type ZeroPointed } from './zero-points.ts';

export const matmulIntegerReference: StaticReference = {
  reference(inputs, attributes, output) {
    const operands = [A, B].map((pair) => withoutZeroPoints(inputs, pair));
    fillExactly(matmulReference, { operands, attributes, output });
  },
};

export const convIntegerReference: StaticReference = {
  reference(inputs, attributes, output) {
    const operands = [X, W].map((pair) => withoutZeroPoints(inputs, pair));
    const isVolume = operand(inputs, 0).shape.length === 5;
    fillExactly(isVolume ? conv3dReference : conv2dReference, { operands, attributes, output });
  },
};

/** int32 computed by the reference of an operator on floats, whose sums in double are exact. */
function fillExactly(op: StaticReference, { operands, attributes, output }: ExactCall): void {
  const sums = HostTensor.zeros('float64', output.shape);
  op.reference(operands, attributes, sums);
  const { elements } = output;
  // An Int32Array keeps the low 32 bits.
  for (let i = 0; i < elements.length; i++) elements[i] = Number(sums.elements[i] ?? 0);
}

interface ExactCall {
  readonly operands: Operands<HostTensor>;
  readonly attributes: Attributes;
  readonly output: HostTensor;
}

/** Integers without their zero point and scale, as float64, in which sums of them are exact. */
function withoutZeroPoints(
  tensors: Operands<HostTensor>,
  { input, zero, axis }: ZeroPointed,
): HostTensor {
  const x = operand(tensors, input);
  const values = Float64Array.from(x.data, Number);
  const zeros = tensors[zero]?.data;
  if (zeros !== undefined) {
    const { inner, size } = axisSteps(x.shape, axis, zeros.length);
    for (let i = 0; i < values.length; i++) {
      values[i] = (values[i] ?? 0) - Number(zeros[Math.floor(i / inner) % size] ?? 0);
    }
  }
  return new HostTensor('float64', x.shape, values);
}

export const matmulNbitsReference: StaticReference = {
  reference(inputs, attributes, output) {
    const a = operand(inputs, 0);
    const weights = dequantizedColumns(inputs, attributes, a.shape.at(-1) ?? 0);
    matmulReference.reference([a, weights], {}, output);
  },
};

/** Each row by itself, with the nearest matrix where its index lies outside. */
export const gatherMatmulNbitsReference: StaticReference = {
  reference(inputs, attributes, output) {
    const [a, indices] = [operand(inputs, 0), operand(inputs, 3)];
    const [k = 0, n = 0] = [a.shape.at(-1), output.shape.at(-1)];
    const [, b, scales, , zeros] = inputs;
    const count = b?.shape[0] ?? 0;
    for (let row = 0; row < indices.data.length; row++) {
      const matrix = Math.max(0, Math.min(count - 1, Number(indices.data[row])));
      const own = [b, scales, zeros].map((tensor) => tensor && matrixOf(tensor, matrix));
      const vector = new HostTensor('float32', [k], a.data.slice(row * k, (row + 1) * k));
      const result = HostTensor.zeros('float32', [n]);
      matmulNbitsReference.reference([vector, ...own], attributes, result);
      (output.data as Float32Array).set(result.data as Float32Array, row * n);
    }
  },
};

function matrixOf({ dtype, shape: [, ...shape], data }: HostTensor, index: number): HostTensor {
  const count = elementCount(shape);
  return new HostTensor(dtype, shape, data.slice(index * count, (index + 1) * count));
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
