import { beforeAll, expect, test } from 'vitest';
import { type Gpu, openGpu } from '../testing/open-gpu.ts';
import { preparePlan, readBuffer, storageBuffer } from '../testing/prepare-plan.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { PlannerCaps } from '../../../core/contracts/launch-plan.ts';
import type { Attributes, PrimitiveFunction } from '../../../core/contracts/primitive-function.ts';
import type { Shape } from '../../../core/tensor/shape.ts';
import { inferConcreteCall } from '../../../ops/infer-concrete-call.ts';
import { callReference } from '../../../ops/testing/call-reference.ts';
import { CORE_OPERATORS } from '../../../ops/tables/core-operators.ts';
import { firstDifference } from '../../../core/tensor/all-close.ts';
import { pausePolls } from '../../../testing/pause-polls.ts';
import { randomTensor } from '../../../testing/random-tensor.ts';
import { TESTED_CLASSES } from '../../testing/node-devices.ts';
import { keepPipelines } from '../../../testing/keep-pipelines.ts';
import { plan } from './plan.ts';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openGpu();
  pausePolls();
  keepPipelines(gpu.device);
});

interface Product {
  readonly title: string;
  readonly shapes: readonly Shape[];
  readonly attributes?: Attributes;
  readonly caps: Partial<PlannerCaps>;
  /** The parts of the plan, and a text that its first shader has. */
  readonly kernels: readonly string[];
  readonly code: RegExp;
}

const DISCRETE = { adapterClass: 'discrete' } as const;
const SOFTWARE = { adapterClass: 'software' } as const;
const INTEGRATED = { adapterClass: 'integrated' } as const;
const FLIPPED = { alpha: 0.5, beta: 2, trans_a: true, trans_b: true };

// Plans that the cases of the operators are too small for, or that depend on more than the class.
const PRODUCTS: readonly Product[] = [
  {
    title: 'tiles of 128, in a batch',
    shapes: [
      [128, 65, 5],
      [128, 5, 67],
    ],
    caps: DISCRETE,
    kernels: ['matmul-tiled'],
    code: /PANEL_ROWS: u32 = 32u[^]*BUFFERS: u32 = 1u/,
  },
  {
    title: 'tiles of 64, one buffer, transposed, odd',
    shapes: [[77, 65], [66, 77], [66]],
    attributes: FLIPPED,
    caps: { ...DISCRETE, maxComputeWorkgroupStorageSize: 4096 },
    kernels: ['matmul-tiled'],
    code: /PANEL_ROWS: u32 = 16u[^]*BUFFERS: u32 = 1u/,
  },
  {
    title: 'parts of k with a bias, transposed, in vectors',
    shapes: [
      [516, 36],
      [40, 516],
      [36, 1],
    ],
    attributes: FLIPPED,
    caps: DISCRETE,
    kernels: ['matmul-tiled', 'matmul-sum'],
    code: /load_a4[^]*load_b4/,
  },
  {
    title: 'a row and a matrix that no cache holds, k odd, parts of k',
    shapes: [
      [1, 1, 2051],
      [1, 2051, 4100],
    ],
    caps: SOFTWARE,
    kernels: ['matmul-tile', 'matmul-sum'],
    code: /load_b4/,
  },
  {
    title: 'a row with alpha and a bias, in parts of k',
    shapes: [
      [2052, 1],
      [2052, 4196],
      [1, 1],
    ],
    attributes: { alpha: 0.5, beta: 2, trans_a: true, trans_b: false },
    caps: SOFTWARE,
    kernels: ['matmul-tile', 'matmul-sum'],
    code: /TILE_ROWS: u32 = 1u[^]*load_b4/,
  },
  {
    title: 'many products, odd',
    shapes: [
      [405, 415],
      [415, 401],
    ],
    caps: SOFTWARE,
    kernels: ['matmul-tile'],
    code: /TILE_VECTORS: u32 = 2u[^]*load_b\(/,
  },
  {
    title: 'many products, in vectors along k and across',
    shapes: [
      [263, 516],
      [516, 500],
    ],
    caps: SOFTWARE,
    kernels: ['matmul-tile'],
    code: /TILE_VECTORS: u32 = 2u[^]*load_a4[^]*load_b4/,
  },
  {
    title: 'many products, transposed, in vectors',
    shapes: [
      [516, 260],
      [504, 516],
      [260, 1],
    ],
    attributes: FLIPPED,
    caps: SOFTWARE,
    kernels: ['matmul-tile'],
    code: /TILE_VECTORS: u32 = 2u[^]*load_a4[^]*load_b4/,
  },
  {
    title: 'tiles of 32, odd',
    shapes: [
      [33, 35],
      [35, 31],
    ],
    caps: INTEGRATED,
    kernels: ['matmul-tiled'],
    code: /PANEL_ROWS: u32 = 8u/,
  },
  {
    title: 'five rows, k odd',
    shapes: [
      [5, 131],
      [131, 70],
    ],
    caps: INTEGRATED,
    kernels: ['matmul-vector'],
    code: /SLICES: u32 = 8u/,
  },
  {
    title: 'a row and transposed columns of k',
    shapes: [[1, 300], [17, 300], [17]],
    attributes: { trans_b: true },
    caps: DISCRETE,
    kernels: ['matmul-vector'],
    code: /load_b4[^]*SLICES: u32 = 64u|SLICES: u32 = 64u[^]*load_b4/,
  },
  {
    title: 'a column, as the row of the transposed product',
    shapes: [
      [65, 129],
      [129, 1],
      [65, 1],
    ],
    caps: INTEGRATED,
    kernels: ['matmul-vector'],
    code: /TILE_ROWS: u32 = 1u/,
  },
  ...(
    [
      [1, 129, 1025, 4],
      [3, 131, 341, 4],
      [4, 132, 256, 4],
      [7, 127, 150, 2],
      [5, 70, 131, 1],
      [17, 65, 63, 1],
      [63, 31, 20, 1],
      [65, 64, 12, 1],
    ] as const
  ).map(
    ([m, n, k, vectors]): Product => ({
      title: `tiles in registers, ${m}x${n}x${k}`,
      shapes: [
        [m, k],
        [k, n],
      ],
      caps: { adapterClass: 'software' },
      kernels: ['matmul-tile'],
      code: new RegExp(`TILE_VECTORS: u32 = ${vectors}u`),
    }),
  ),
];

const chosen = PRODUCTS.filter(({ caps: { adapterClass = 'software' } }) =>
  TESTED_CLASSES.includes(adapterClass),
);

test.each(chosen.map((product) => [product.title, product] as const))(
  'matmul: %s',
  async (_, { shapes, attributes = {}, caps, kernels, code }) => {
    const op = CORE_OPERATORS.require(shapes[0]?.length === 2 ? 'gemm' : 'matmul');
    const inputs = shapes.map((shape, i) => randomTensor(shape, i + 1));
    const call = inferConcreteCall(op, inputs, attributes);
    const primitive: PrimitiveFunction = {
      name: op.name,
      params: inputs,
      body: [{ op: op.name, inputs: inputs.map((_, i) => i), attributes: call.attributes }],
      results: [{ value: inputs.length, type: call.output }],
    };
    const launchPlan = plan(
      primitive,
      { params: shapes, results: [call.output.shape] },
      { caps: { ...gpu.caps, ...caps }, operators: CORE_OPERATORS },
    );
    expect(launchPlan.launches.map(({ label }) => label)).toEqual(kernels);
    expect(launchPlan.launches[0]?.code).toMatch(code);
    const expected = callReference(op.name, inputs, call.attributes);
    const result = storageBuffer(gpu, new Float32Array(expected.elements.length));
    const buffers = inputs.map(({ data }) => storageBuffer(gpu, Float32Array.from(data, Number)));
    await (await preparePlan(gpu, launchPlan, [...buffers, result])).run();
    const values = new Float32Array(await readBuffer(gpu, result), 0, expected.elements.length);
    const actual = new HostTensor('float32', call.output.shape, values);
    expect(firstDifference(actual, expected, op.tolerance)).toBeUndefined();
  },
  120_000,
);
