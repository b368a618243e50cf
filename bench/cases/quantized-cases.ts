import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { seededRandom } from '../../src/core/random.ts';
import { elementCount } from '../../src/core/tensor/shape.ts';
import { type OperatorCase, randomTensor, single } from './plan-operators.ts';

/** Codes of weights that share a scale. */
const BLOCK_SIZE = 32;

/** A row times a matrix whose elements are codes of a few bits, with a scale for each block. */
export function matvecOfBits(bits: 4 | 8): OperatorCase {
  const size = 4096;
  const blocks = size / BLOCK_SIZE;
  const blockBytes = (BLOCK_SIZE * bits) / 8;
  return {
    name: `matvec-4096-${bits}bit`,
    title: `vector times 4096x4096 of ${bits} bits`,
    // In each block one scale of float32.
    work: { bytes: size * blocks * (blockBytes + 4) },
    peers: ['onnxruntime'],
    operators: () => ({
      input: [1, size],
      weights: {
        w: randomBytes('uint8', [size, blocks, blockBytes], 2),
        scales: randomTensor([size * blocks], 3, 0.02),
      },
      opsets: { 'com.microsoft': 1 },
      nodes: single('MatMulNBits', ['x', 'w', 'scales'], {
        K: size,
        N: size,
        bits,
        block_size: BLOCK_SIZE,
      }).map((node) => ({ ...node, domain: 'com.microsoft' })),
    }),
  };
}

/** A product of bytes with sums of 32 bits, as quantized models have it. */
export function matmulOfBytes(float32: OperatorCase, size: number): OperatorCase {
  return {
    name: `matmul-${size}-int8`,
    title: `matmul ${size} cubed of 8 bits`,
    peers: ['onnxruntime'],
    float32,
    operators: () => ({
      input: randomBytes('uint8', [size, size], 1),
      weights: { w: randomBytes('int8', [size, size], 2) },
      constants: { zero: HostTensor.from('uint8', [], [128]) },
      nodes: single('MatMulInteger', ['x', 'w', 'zero']),
    }),
  };
}

function randomBytes(dtype: 'uint8' | 'int8', shape: readonly number[], seed: number): HostTensor {
  const random = seededRandom(seed);
  const bytes = Uint8Array.from({ length: elementCount(shape) }, () => random() * 256);
  const data = dtype === 'uint8' ? bytes : new Int8Array(bytes.buffer);
  return new HostTensor(dtype, shape, data);
}
