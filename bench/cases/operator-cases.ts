import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { seededRandom } from '../../src/core/random.ts';
import { elementCount } from '../../src/core/tensor/shape.ts';
import type { BenchDevice, CasePlan, DeviceTargets } from './bench-case.ts';
import {
  type OperatorCase,
  type Operators,
  planOperators,
  randomTensor,
  single,
} from './build-case.ts';
import { encoderModel } from './model-writer.ts';

/** Of the multiply-adds in registers, for one thread. */
const CEILING = 0.75;
const MATMUL_WEBGPU = { onnxruntime: 8, tensorflow: 8 };
const MATMUL_WASM = { onnxruntime: 1.3, tensorflow: 1.3, jax: 1.3 };
const CONV: DeviceTargets = {
  webgpu: { onnxruntime: 10, tensorflow: 6 },
  wasm: { onnxruntime: 1.5, tensorflow: 1.3, jax: 1.3 },
};
const ROWS_WASM = { onnxruntime: 1.5, tensorflow: 2, jax: 2 };
const ROWS: DeviceTargets = { webgpu: { onnxruntime: 6, tensorflow: 6 }, wasm: ROWS_WASM };
const BYTES: DeviceTargets = { wasm: { float32: 1.2 } };

/** Codes of weights that share a scale. */
const BLOCK_SIZE = 32;
const ADDED = 1 << 22;
const CHAINED = 1 << 20;

/**
 * Operators as models of `src/testing/onnx-writer.ts`, by the words that `--case` knows; TensorFlow.js and jax-js have them
 * in `page/` by the same names.
 */
const CASES: readonly OperatorCase[] = [
  matmul(256, { webgpu: { ...MATMUL_WEBGPU, cold: 4 }, wasm: MATMUL_WASM }),
  matmul(512, { webgpu: MATMUL_WEBGPU, wasm: { ...MATMUL_WASM, ceiling: CEILING } }),
  matmul(1024, {
    webgpu: MATMUL_WEBGPU,
    wasm: { ...MATMUL_WASM, ceiling: CEILING, oneThread: { isolated: 1.7, apart: 1.5 } },
  }),
  matmulOfBytes(512),
  matmulOfBytes(1024),
  {
    name: 'matvec-4096',
    title: 'vector times 4096x4096',
    targets: {
      webgpu: { onnxruntime: 20, tensorflow: 20 },
      wasm: { onnxruntime: 1.2, tensorflow: 1.5, jax: 1.5 },
    },
    work: { bytes: 4 * 4096 ** 2 },
    operators: () => product([1, 4096], [4096, 4096]),
  },
  matvecOfBits(8),
  matvecOfBits(4),
  conv('conv-3x3', 'conv 3x3 64 to 64, 56x56', [3, 1]),
  conv('conv-depthwise', 'conv depthwise 3x3 64, 56x56', [3, 64]),
  conv('conv-1x1', 'conv 1x1 64 to 64, 56x56', [1, 1]),
  rows('softmax', 'softmax', { nodes: single('Softmax', ['x'], { axis: -1 }) }),
  rows('layer-norm', 'layer norm', {
    weights: { scale: randomTensor([1024], 2), bias: randomTensor([1024], 3) },
    nodes: single('LayerNormalization', ['x', 'scale', 'bias'], { axis: -1 }),
  }),
  rows('row-sums', 'row sums', {
    constants: { axes: HostTensor.from('int64', [1], [1]) },
    nodes: single('ReduceSum', ['x', 'axes'], { keepdims: 0 }),
  }),
  {
    name: 'transpose',
    title: 'transpose 2048x2048',
    targets: { webgpu: { onnxruntime: 50, tensorflow: 50 }, wasm: ROWS_WASM },
    work: { bytes: 8 * 2048 ** 2 },
    operators: () => ({
      input: [2048, 2048],
      nodes: single('Transpose', ['x'], { perm: [1, 0] }),
    }),
  },
  {
    name: 'add-4m',
    title: 'add of 4M floats',
    targets: { webgpu: { onnxruntime: 1.6, tensorflow: 1.6 }, wasm: ROWS_WASM },
    work: { bytes: 12 * ADDED },
    operators: () => ({
      input: [ADDED],
      weights: { w: randomTensor([ADDED], 2) },
      nodes: single('Add', ['x', 'w']),
    }),
  },
  {
    name: 'chain-16',
    title: 'chain of 16 elementwise, 1M floats',
    targets: {
      webgpu: { onnxruntime: 4, tensorflow: 6 },
      wasm: { onnxruntime: 3, tensorflow: 4, jax: 4 },
    },
    operators: elementwiseChain,
  },
  {
    name: 'matmuls-200',
    title: '200 dependent 8x8 matmuls',
    targets: {
      webgpu: { onnxruntime: 8, tensorflow: 100 },
      wasm: { onnxruntime: 3, tensorflow: 10, jax: 10 },
    },
    launches: 200,
    operators: () => matmulChain(200),
  },
  {
    name: 'encoder',
    title: 'transformer encoder, 2 layers, 128x256',
    targets: { webgpu: { onnxruntime: 8, cold: 4 }, wasm: { onnxruntime: 1.3 } },
    peers: ['onnxruntime'],
    operators: () => encoderModel({ layers: 2, length: 128, width: 256, heads: 4 }),
  },
];

export const operatorCases = (device: BenchDevice): CasePlan[] =>
  CASES.flatMap((operatorCase) => planOperators(operatorCase, device));

const product = (x: readonly number[], w: readonly number[]): Operators => ({
  input: x,
  weights: { w: randomTensor(w, 2) },
  nodes: single('MatMul', ['x', 'w']),
});

function matmul(size: number, targets: DeviceTargets): OperatorCase {
  return {
    name: `matmul-${size}`,
    title: `matmul ${size} cubed`,
    targets,
    work: { flops: 2 * size ** 3 },
    operators: () => product([size, size], [size, size]),
  };
}

/** A product of bytes with sums of 32 bits, as quantized models have it. */
function matmulOfBytes(size: number): OperatorCase {
  return {
    name: `matmul-${size}-int8`,
    title: `matmul ${size} cubed of 8 bits`,
    targets: BYTES,
    peers: ['onnxruntime'],
    float32: matmul(size, BYTES),
    operators: () => ({
      input: randomBytes('uint8', [size, size], 1),
      weights: { w: randomBytes('int8', [size, size], 2) },
      constants: { zero: HostTensor.from('uint8', [], [128]) },
      nodes: single('MatMulInteger', ['x', 'w', 'zero']),
    }),
  };
}

/** A row times a matrix whose elements are codes of a few bits, with a scale for each block. */
function matvecOfBits(bits: 4 | 8): OperatorCase {
  const size = 4096;
  const blocks = size / BLOCK_SIZE;
  const blockBytes = (BLOCK_SIZE * bits) / 8;
  return {
    name: `matvec-4096-${bits}bit`,
    title: `vector times 4096x4096 of ${bits} bits`,
    targets: { wasm: { onnxruntime: 1.5, tensorflow: 1.5, jax: 1.5 } },
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

function randomBytes(dtype: 'uint8' | 'int8', shape: readonly number[], seed: number): HostTensor {
  const random = seededRandom(seed);
  const bytes = Uint8Array.from({ length: elementCount(shape) }, () => random() * 256);
  const data = dtype === 'uint8' ? bytes : new Int8Array(bytes.buffer);
  return new HostTensor(dtype, shape, data);
}

function conv(
  name: string,
  title: string,
  [kernel, groups]: readonly [number, number],
): OperatorCase {
  return {
    name,
    title,
    targets: CONV,
    work: { flops: (2 * 64 * 64 * kernel ** 2 * 56 ** 2) / groups },
    operators: () => ({
      input: [1, 64, 56, 56],
      weights: { w: randomTensor([64, 64 / groups, kernel, kernel], 2) },
      nodes: single('Conv', ['x', 'w'], {
        kernel_shape: [kernel, kernel],
        pads: Array.from({ length: 4 }, () => kernel >> 1),
        group: groups,
      }),
    }),
  };
}

/** An operator over the rows of a matrix. */
function rows(name: string, title: string, operators: Omit<Operators, 'input'>): OperatorCase {
  return {
    name,
    title: `${title} 1024x1024`,
    targets: ROWS,
    operators: () => ({ input: [1024, 1024], ...operators }),
  };
}

/** Times 1.25, minus 0.1, tanh, abs: four times over. */
function elementwiseChain(): Operators {
  const scalar = (value: number): HostTensor => HostTensor.from('float32', [], [value]);
  const links = [['Mul', 'scale'], ['Add', 'shift'], ['Tanh'], ['Abs']] as const;
  return {
    input: [CHAINED],
    constants: { scale: scalar(1.25), shift: scalar(-0.1) },
    nodes: Array.from({ length: 16 }, (_, i) => {
      const [op = 'Abs', ...more] = links[i % 4] ?? [];
      const output = i === 15 ? 'y' : `v${i + 1}`;
      return { op, inputs: [i === 0 ? 'x' : `v${i}`, ...more], outputs: [output] };
    }),
  };
}

/** So many products with one rotation, so that elements neither grow nor vanish. */
export function matmulChain(length: number): Operators {
  const w = HostTensor.zeros('float32', [8, 8]);
  for (let i = 0; i < 8; i++) {
    const next = (i + 1) % 8;
    w.data[i * 8 + next] = 1;
  }
  // The product of a cyclic permutation with turns in four planes.
  const turned = new Float32Array(64);
  for (let row = 0; row < 8; row++) {
    for (let plane = 0; plane < 4; plane++) {
      const [a, b] = [Number(w.data[row * 8 + plane * 2]), Number(w.data[row * 8 + plane * 2 + 1])];
      const angle = 0.3 * (plane + 1);
      turned[row * 8 + plane * 2] = a * Math.cos(angle) - b * Math.sin(angle);
      turned[row * 8 + plane * 2 + 1] = a * Math.sin(angle) + b * Math.cos(angle);
    }
  }
  return {
    input: [8, 8],
    weights: { w: new HostTensor('float32', [8, 8], turned) },
    nodes: Array.from({ length }, (_, i) => ({
      op: 'MatMul',
      inputs: [i === 0 ? 'x' : `v${i}`, 'w'],
      outputs: [i === length - 1 ? 'y' : `v${i + 1}`],
    })),
  };
}
