import { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { intAttribute } from '../attributes.ts';
import { isFloat } from '../elementwise/number-dtypes.ts';
import { matmulReference } from '../linear/matmul.reference.ts';
import type { Operands } from '../lowering.ts';
import { operand } from '../operand-checks.ts';
import type { StaticReference } from '../op-reference.ts';

export const matmulNbitsReference: StaticReference = {
  reference(inputs, attributes, output) {
    const a = operand(inputs, 0);
    const weights = dequantizedColumns(inputs, attributes, a.shape.at(-1) ?? 0);
    matmulReference.reference([a, weights], {}, output);
  },
};

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
