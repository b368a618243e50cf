import { describe, expect, test } from 'vitest';
import type { AdapterClass, PlannerCaps } from '../../core/contracts/launch-plan.ts';
import type { MatmulProblem } from './matmul-problem.ts';
import { chooseMatmulVariant, decodingVariant } from './matmul-variant.ts';
import { plannerCaps } from '../../testing/planner-caps.ts';

function capsOf(adapterClass: AdapterClass): PlannerCaps {
  return plannerCaps(adapterClass, {
    subgroups: true,
    subgroupMinSize: adapterClass === 'software' ? 4 : 32,
    maxStorageBuffersPerShaderStage: 10,
    maxComputeWorkgroupStorageSize: 32_768,
    maxComputeInvocationsPerWorkgroup: 1024,
    maxStorageBufferBindingSize: 2 ** 30,
  });
}

interface Sizes {
  readonly transA?: boolean;
  readonly transB?: boolean;
  readonly batch?: number;
}

function product(
  [m, n, k]: readonly [number, number, number],
  { transA = false, transB = false, batch = 1 }: Sizes = {},
): MatmulProblem {
  return {
    m,
    n,
    k,
    batch: [1, batch],
    a: { batch: [0, m * k], row: transA ? 1 : k, column: transA ? m : 1 },
    b: { batch: [0, k * n], row: transB ? 1 : n, column: transB ? k : 1 },
    c: undefined,
    alpha: 1,
    beta: 0,
  };
}

/** The part of a variant that the table below names. */
function summary(problem: MatmulProblem, adapterClass: AdapterClass): string {
  const variant = chooseMatmulVariant(problem, capsOf(adapterClass));
  if (variant.kernel === 'tile') {
    const tile = `tile ${variant.rows}x${variant.vectors * 16}`;
    return variant.parts === 1 ? tile : `${tile}, ${variant.parts} parts of ${variant.lanes[0]}`;
  }
  return variant.kernel === 'vector'
    ? `vector ${variant.rows}, ${variant.slices} of ${variant.lanes}`
    : `tiled ${variant.size}, ${variant.parts} parts, ${variant.buffers} buffers`;
}

describe('the kernel of a product', () => {
  test.each([
    [
      [1, 4096, 4096],
      {},
      'tile 1x64, 128 parts of 256',
      'vector 1, 8 of 64',
      'vector 1, 32 of 256',
    ],
    [[1, 4160, 4095], {}, 'tile 1x64, 128 parts of 64', 'vector 1, 8 of 64', 'vector 1, 32 of 256'],
    [[1, 4095, 4096], {}, 'tile 1x64', 'vector 1, 8 of 64', 'vector 1, 32 of 256'],
    [[1, 1024, 4096], {}, 'tile 1x64', 'vector 1, 8 of 64', 'vector 1, 32 of 256'],
    [[1, 4096, 4096], { transB: true }, 'tile 1x64', 'vector 1, 64 of 64', 'vector 1, 64 of 64'],
    [[1, 10, 8], {}, 'tile 1x16', 'tile 1x16', 'tile 1x16'],
    [[3, 1000, 512], {}, 'tile 4x64', 'vector 4, 8 of 64', 'vector 4, 32 of 256'],
    [[8, 8, 8], {}, 'tile 4x16', 'tile 8x16', 'tile 8x16'],
    [[8, 64, 64], {}, 'tile 8x16', 'tile 8x16', 'tile 8x16'],
    [[4, 64, 64], {}, 'tile 4x16', 'tile 4x16', 'tile 4x16'],
    [[8, 512, 512], {}, 'tile 8x32', 'vector 8, 8 of 64', 'vector 8, 32 of 256'],
    [
      [32, 4096, 4096],
      {},
      'tile 16x32',
      'tiled 32, 1 parts, 2 buffers',
      'tiled 32, 8 parts, 2 buffers',
    ],
    [
      [128, 256, 256],
      {},
      'tile 16x16',
      'tiled 32, 1 parts, 2 buffers',
      'tiled 64, 1 parts, 2 buffers',
    ],
    [
      [64, 64, 4096],
      {},
      'tile 16x16',
      'tiled 32, 16 parts, 2 buffers',
      'tiled 64, 16 parts, 2 buffers',
    ],
    [
      [64, 63, 4096],
      {},
      'tile 16x16',
      'tiled 32, 1 parts, 2 buffers',
      'tiled 64, 1 parts, 2 buffers',
    ],
    [
      [1024, 1024, 1024],
      {},
      'tile 16x32',
      'tiled 64, 1 parts, 2 buffers',
      'tiled 64, 4 parts, 2 buffers',
    ],
    [
      [4096, 4096, 4096],
      {},
      'tile 16x32',
      'tiled 64, 1 parts, 2 buffers',
      'tiled 128, 1 parts, 2 buffers',
    ],
    [
      [128, 128, 64],
      { batch: 144 },
      'tile 16x32',
      'tiled 64, 1 parts, 2 buffers',
      'tiled 128, 1 parts, 2 buffers',
    ],
    [
      [17, 17, 17],
      { batch: 1000 },
      'tile 16x16',
      'tiled 32, 1 parts, 2 buffers',
      'tiled 32, 1 parts, 2 buffers',
    ],
  ] as const)('%j %j', (sizes, options, software, integrated, discrete) => {
    const problem = product(sizes, options);
    expect(summary(problem, 'software')).toBe(software);
    expect(summary(problem, 'integrated')).toBe(integrated);
    expect(summary(problem, 'discrete')).toBe(discrete);
  });

  test('a small adapter gets one buffer and no large workgroup', () => {
    const caps = {
      ...capsOf('discrete'),
      maxComputeWorkgroupStorageSize: 16_384,
      maxComputeInvocationsPerWorkgroup: 256,
    };
    const large = product([4096, 4096, 4096]);
    expect(chooseMatmulVariant(large, caps)).toMatchObject({ size: 128, buffers: 1 });
    const few = { ...caps, maxComputeInvocationsPerWorkgroup: 128 };
    expect(chooseMatmulVariant(large, few)).toMatchObject({ size: 64, buffers: 2 });
  });
});

describe('a matrix that is decoded 32 elements at a time', () => {
  const decoding = { step: 32, column: 1, addProducts: () => '' };
  test.each([
    [[1, 64, 256], 'software', { kernel: 'tile', rows: 1, vectors: 1, quads: false }],
    [[1, 512, 256], 'software', { kernel: 'tile', rows: 1, vectors: 2, quads: false }],
    [[3, 512, 256], 'software', { kernel: 'tile', rows: 4, vectors: 1, quads: false }],
    [[1, 512, 256], 'integrated', { kernel: 'vector', rows: 1, vectors: 1, slices: 8 }],
    [[4, 512, 4096], 'discrete', { kernel: 'vector', rows: 4, vectors: 1, slices: 64 }],
  ] as const)('%j on %s', (sizes, adapterClass, expected) => {
    const problem = product(sizes, { transB: true });
    expect(decodingVariant(problem, decoding, capsOf(adapterClass))).toMatchObject(expected);
  });
});

describe('four elements are loaded at once', () => {
  test.each([
    [[32, 32, 32], {}, 'depth', 'across'],
    [[32, 32, 32], { transA: true, transB: true }, 'across', 'depth'],
    [[32, 32, 33], {}, 'single', 'across'],
    [[32, 33, 32], {}, 'depth', 'single'],
    [[33, 33, 32], { transA: true, transB: true }, 'single', 'depth'],
    [[33, 32, 32], { batch: 2 }, 'depth', 'across'],
  ] as const)('where they are aligned: %j %j', (sizes, options, a, b) => {
    for (const adapterClass of ['software', 'integrated', 'discrete'] as const) {
      const variant = chooseMatmulVariant(product(sizes, options), capsOf(adapterClass));
      expect(variant).toMatchObject({ a, b });
    }
  });
});
