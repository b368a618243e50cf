import type { DType } from '../../core/tensor/dtype.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCaseInput } from '../op-cases.ts';
import type { OpCases } from '../op-cases.ts';

export const matmulNbitsCases: OpCases = {
  summary:
    'a (..., k) times the transpose of a matrix of codes of 2, 4 or 8 bits in blocks along k: b ' +
    '(n, blocks, bytes) holds codes from the low bits up, (code - zero) * scale is an element. ' +
    'scales (n, blocks); zeros (n, blocks) floats, or (n, bytes) packed as b is, else half the range.',
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
    nbitsCase({ m: [20], n: 68, k: 64, blockSize: 16, bits: 2, zeros: 'uint8' }),
    nbitsCase({ m: [9], n: 37, k: 96, bits: 8, zeros: 'float32' }),
    nbitsCase({ m: [33], n: 20, k: 128, bits: 8, zeros: 'uint8' }),
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
};

export const gatherMatmulNbitsCases: OpCases = {
  summary:
    'Each row of a (..., k) times the transpose of the matrix that its index (...) names, of codes as matmul_nbits has them: ' +
    'b (matrices, n, blocks, bytes), scales (matrices, n, blocks), zeros likewise. An index outside names the nearest matrix.',
  cases: () => [
    gatheredCase([1, 2], { m: [2], n: 5, k: 32 }, 3),
    gatheredCase([2, 0, 1], { m: [3], n: 7, k: 40, zeros: 'uint8' }, 3),
    gatheredCase([-1, 4, 3, 9], { m: [2, 2], n: 9, k: 96, zeros: 'float32' }, 4),
    gatheredCase([1, 1], { m: [2], n: 130, k: 256, blockSize: 16, zeros: 'uint8' }, 2),
    gatheredCase([1, 0], { m: [2], n: 33, k: 300, blockSize: 128, bits: 8 }, 2),
    gatheredCase([2], { m: [], n: 6, k: 512, blockSize: 256, bits: 2 }, 3),
    gatheredCase([0, 1, 2, 1, 0, 2, 2], { m: [7], n: 517, k: 192, blockSize: 64 }, 3),
    gatheredCase([3, 1, 0], { m: [3], n: 20, k: 2208, bits: 8, zeros: 'uint8' }, 4),
    gatheredCase([], { m: [0], n: 4, k: 32 }, 2),
  ],
  badCases: () => {
    const opCase = gatheredCase([1, 0], { m: [2], n: 4, k: 32 }, 2);
    const [a, b, scales] = opCase.inputs;
    return [
      { ...opCase, title: '3 bits', attributes: { bits: 3 } },
      { title: 'one matrix', inputs: [a, { dtype: 'uint8', shape: [4, 1, 16] }, scales, a] },
      {
        title: 'indices of other rows',
        inputs: [a, b, scales, { dtype: 'int32', shape: [3] }],
      },
    ];
  },
};

/** Rows with these matrices of so many. */
function gatheredCase(values: readonly number[], product: NbitsCase, matrices: number): OpCase {
  const { title, inputs, attributes = {} } = nbitsCase(product);
  const [a, ...weights] = inputs;
  const [b, scales, zeros] = weights.map(
    (input) => input && { ...input, shape: [matrices, ...input.shape] },
  );
  const indices: OpCaseInput = { dtype: 'int32', shape: product.m, values };
  return {
    title: `${title}, of ${matrices} matrices`,
    inputs: [a, b, scales, indices, ...(zeros ? [zeros] : [])],
    attributes,
  };
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
  const isBitPacked = zeros === 'uint8';
  const zeroBytes = isBitPacked ? Math.ceil((blocks * bits) / 8) : blocks;
  const bytes: OpCaseInput['range'] = [0, 256];
  const inputs: OpCaseInput[] = [
    { dtype: 'float32', shape: [...m, k] },
    { dtype: 'uint8', shape: [n, blocks, (blockSize * bits) / 8], range: bytes },
    { dtype: 'float32', shape: [n, blocks], range: [0.01, 0.1] },
  ];
  if (zeros !== undefined) {
    const range = isBitPacked ? bytes : ([0, 2 ** bits] as const);
    inputs.push({ dtype: zeros, shape: [n, zeroBytes], range });
  }
  return {
    title: `(${[...m, k].join(', ')}) by ${n}, ${bits} bits in blocks of ${blockSize}, zeros ${zeros ?? 'none'}`,
    inputs,
    attributes: { bits, block_size: blockSize },
  };
}
