import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import type { BenchDevice, CasePlan } from './bench-case.ts';
import { buildEncoder } from './encoder-model.ts';
import {
  type OperatorCase,
  type Operators,
  planOperators,
  randomTensor,
  single,
} from './plan-operators.ts';
import { matmulOfBytes, matvecOfBits } from './quantized-cases.ts';
import { TARGETS } from './targets.ts';

/** Operators of `src/testing/onnx-writer.ts`'s models; other runtimes have them in `page/`. */
export function operatorCases(device: BenchDevice): CasePlan[] {
  const all = [
    matmul(256),
    matmul(512),
    matmul(1024),
    matmulOfBytes(matmul(512), 512),
    matmulOfBytes(matmul(1024), 1024),
    matvec(),
    matvecOfBits(8),
    matvecOfBits(4),
    ...convolutions(),
    ...rows(),
    transpose(),
    add(),
    chain(),
    dependentMatmuls(),
    encoder(),
  ];
  return all.flatMap((operatorCase) => {
    const targets = TARGETS[device][operatorCase.name];
    return targets === undefined ? [] : [planOperators(operatorCase, targets)];
  });
}

function matmul(size: number): OperatorCase {
  return {
    name: `matmul-${size}`,
    title: `matmul ${size} cubed`,
    work: { flops: 2 * size ** 3 },
    operators: () => ({
      input: [size, size],
      weights: { w: randomTensor([size, size], 2) },
      nodes: single('MatMul', ['x', 'w']),
    }),
  };
}

function matvec(): OperatorCase {
  return {
    name: 'matvec-4096',
    title: 'vector times 4096x4096',
    work: { bytes: 4 * 4096 ** 2 },
    operators: () => ({
      input: [1, 4096],
      weights: { w: randomTensor([4096, 4096], 2) },
      nodes: single('MatMul', ['x', 'w']),
    }),
  };
}

function convolutions(): OperatorCase[] {
  const conv = (name: string, title: string, [kernel, groups]: readonly [number, number]) => ({
    name,
    title,
    work: { flops: (2 * 64 * 64 * kernel ** 2 * 56 ** 2) / groups },
    operators: (): Operators => ({
      input: [1, 64, 56, 56],
      weights: { w: randomTensor([64, 64 / groups, kernel, kernel], 2) },
      nodes: single('Conv', ['x', 'w'], {
        kernel_shape: [kernel, kernel],
        pads: Array.from({ length: 4 }, () => kernel >> 1),
        group: groups,
      }),
    }),
  });
  return [
    conv('conv-3x3', 'conv 3x3 64 to 64, 56x56', [3, 1]),
    conv('conv-depthwise', 'conv depthwise 3x3 64, 56x56', [3, 64]),
    conv('conv-1x1', 'conv 1x1 64 to 64, 56x56', [1, 1]),
  ];
}

/** Operators over the rows of a 1024x1024 matrix. */
function rows(): OperatorCase[] {
  const size = 1024;
  const row = (name: string, title: string, operators: Omit<Operators, 'input'>): OperatorCase => ({
    name,
    title,
    operators: () => ({ input: [size, size], ...operators }),
  });
  return [
    row('softmax', 'softmax 1024x1024', { nodes: single('Softmax', ['x'], { axis: -1 }) }),
    row('layer-norm', 'layer norm 1024x1024', {
      weights: { scale: randomTensor([size], 2), bias: randomTensor([size], 3) },
      nodes: single('LayerNormalization', ['x', 'scale', 'bias'], { axis: -1 }),
    }),
    row('row-sums', 'row sums 1024x1024', {
      constants: { axes: HostTensor.from('int64', [1], [1]) },
      nodes: single('ReduceSum', ['x', 'axes'], { keepdims: 0 }),
    }),
  ];
}

function transpose(): OperatorCase {
  return {
    name: 'transpose',
    title: 'transpose 2048x2048',
    work: { bytes: 8 * 2048 ** 2 },
    operators: () => ({
      input: [2048, 2048],
      nodes: single('Transpose', ['x'], { perm: [1, 0] }),
    }),
  };
}

function add(): OperatorCase {
  const count = 1 << 22;
  return {
    name: 'add-4m',
    title: 'add of 4M floats',
    work: { bytes: 12 * count },
    operators: () => ({
      input: [count],
      weights: { w: randomTensor([count], 2) },
      nodes: single('Add', ['x', 'w']),
    }),
  };
}

/** Times 1.25, minus 0.1, tanh, abs: four times over. */
function chain(): OperatorCase {
  const count = 1 << 20;
  const scalar = (value: number): HostTensor => HostTensor.from('float32', [], [value]);
  const links = [
    { op: 'Mul', more: ['scale'] },
    { op: 'Add', more: ['shift'] },
    { op: 'Tanh', more: [] },
    { op: 'Abs', more: [] },
  ];
  return {
    name: 'chain-16',
    title: 'chain of 16 elementwise, 1M floats',
    operators: () => ({
      input: [count],
      constants: { scale: scalar(1.25), shift: scalar(-0.1) },
      nodes: Array.from({ length: 16 }, (_, i) => ({
        op: links[i % 4]?.op ?? 'Abs',
        inputs: [i === 0 ? 'x' : `v${i}`, ...(links[i % 4]?.more ?? [])],
        outputs: [i === 15 ? 'y' : `v${i + 1}`],
      })),
    }),
  };
}

function dependentMatmuls(): OperatorCase {
  return {
    name: 'matmuls-200',
    title: '200 dependent 8x8 matmuls',
    launches: 200,
    operators: () => matmulChain(200),
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

function encoder(): OperatorCase {
  return {
    name: 'encoder',
    title: 'transformer encoder, 2 layers, 128x256',
    peers: ['onnxruntime'],
    operators: () => buildEncoder({ layers: 2, length: 128, width: 256, heads: 4 }),
  };
}
