import type { DType } from '../../core/dtype.ts';
import type { Shape } from '../../core/shape.ts';
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
