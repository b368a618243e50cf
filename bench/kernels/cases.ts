import { CONCRETE_DIMS } from '../../src/core/dim-context.ts';
import type { DType } from '../../src/core/dtype.ts';
import type { Attributes, PrimitiveFunction } from '../../src/core/primitive-function.ts';
import { elementCount, type Shape } from '../../src/core/shape.ts';
import { CORE_OPERATORS } from '../../src/ops/core-operators.ts';

/** One measured primitive. */
export interface BenchCase {
  readonly title: string;
  readonly primitive: PrimitiveFunction;
  /** Floating-point operations, for arithmetic; else bytes moved. */
  readonly work: { readonly flops: number } | { readonly bytes: number };
}

const tensor = (shape: Shape, dtype: DType = 'float32') => ({ dtype, shape });

/** A primitive of one operator call over float32 tensors. */
export function singleCall(
  op: string,
  shapes: readonly Shape[],
  attributes: Attributes,
): PrimitiveFunction {
  const definition = CORE_OPERATORS.get(op);
  if (definition === undefined) throw new Error(`no operator ${op}`);
  const params = shapes.map((shape) => tensor(shape));
  const complete = { ...attributes };
  return {
    name: op,
    params,
    body: [{ op, inputs: params.map((_, i) => i), attributes: complete }],
    results: [{ value: params.length, type: definition.infer(params, complete, CONCRETE_DIMS) }],
  };
}

function matmul(m: number, k: number, n: number): BenchCase {
  const primitive = singleCall(
    'matmul',
    [
      [m, k],
      [k, n],
    ],
    {},
  );
  return { title: `matmul ${m}x${k}x${n}`, primitive, work: { flops: 2 * m * k * n } };
}

interface ConvCase {
  readonly c: number;
  readonly size: number;
  readonly k: number;
  readonly kernel: number;
  readonly stride?: number;
  readonly groups?: number;
}

function conv(title: string, { c, size, k, kernel, stride = 1, groups = 1 }: ConvCase): BenchCase {
  const pad = kernel >> 1;
  const shapes = [[1, c, size, size], [k, c / groups, kernel, kernel], [k]];
  const primitive = singleCall('conv2d', shapes, {
    strides: [stride, stride],
    pads: [pad, pad, pad, pad],
    dilations: [1, 1],
    groups,
  });
  const out = Math.floor((size + 2 * pad - kernel) / stride) + 1;
  const flops = (2 * k * c * kernel * kernel * out * out) / groups;
  return { title: `conv ${title}`, primitive, work: { flops } };
}

function moved(title: string, primitive: PrimitiveFunction): BenchCase {
  const tensors = [...primitive.params, ...primitive.results.map(({ type }) => type)];
  const bytes = tensors.reduce((sum, { shape }) => sum + 4 * elementCount(shape.map(Number)), 0);
  return { title, primitive, work: { bytes } };
}

function chain(length: number, count: number): PrimitiveFunction {
  const ops = ['relu', 'neg', 'tanh', 'abs'];
  return {
    name: 'chain',
    params: [tensor([count])],
    body: Array.from({ length }, (_, i) => ({
      op: ops[i % 4] ?? 'relu',
      inputs: [i],
      attributes: {},
    })),
    results: [{ value: length, type: tensor([count]) }],
  };
}

/** Layers of the models that the project is measured by, and the usual suspects. */
export function benchCases(): BenchCase[] {
  return [
    matmul(256, 256, 256),
    matmul(512, 512, 512),
    matmul(1024, 1024, 1024),
    matmul(1, 4096, 4096),
    conv('1x1 64-16 56 (squeeze)', { c: 64, size: 56, k: 16, kernel: 1 }),
    conv('1x1 16-64 56 (expand)', { c: 16, size: 56, k: 64, kernel: 1 }),
    conv('3x3 16-64 56 (expand)', { c: 16, size: 56, k: 64, kernel: 3 }),
    conv('3x3 64-256 13 (expand)', { c: 64, size: 13, k: 256, kernel: 3 }),
    conv('3x3 s2 3-64 227', { c: 3, size: 227, k: 64, kernel: 3, stride: 2 }),
    conv('1x1 64-256 56', { c: 64, size: 56, k: 256, kernel: 1 }),
    conv('1x1 512-2048 7', { c: 512, size: 7, k: 2048, kernel: 1 }),
    conv('1x1 s2 256-512 56', { c: 256, size: 56, k: 512, kernel: 1, stride: 2 }),
    conv('3x3 64-64 56', { c: 64, size: 56, k: 64, kernel: 3 }),
    conv('3x3 512-512 7', { c: 512, size: 7, k: 512, kernel: 3 }),
    conv('7x7 s2 3-64 224', { c: 3, size: 224, k: 64, kernel: 7, stride: 2 }),
    conv('5x5 1-64 224', { c: 1, size: 224, k: 64, kernel: 5 }),
    conv('3x3 64-32 224', { c: 64, size: 224, k: 32, kernel: 3 }),
    conv('3x3 32-9 224', { c: 32, size: 224, k: 9, kernel: 3 }),
    conv('3x3 depthwise 64 112', { c: 64, size: 112, k: 64, kernel: 3, groups: 64 }),
    moved('softmax 1024x1024', singleCall('softmax', [[1024, 1024]], { axis: -1 })),
    moved('layer_norm 1024x1024', singleCall('layer_norm', [[1024, 1024]], {})),
    moved('arg_max 1024x1024', singleCall('arg_max', [[1024, 1024]], { axis: 1 })),
    moved(
      'reduce_sum rows 1024x1024',
      singleCall('reduce_sum', [[1024, 1024]], { axes: [1], keepdims: false }),
    ),
    moved(
      'reduce_sum columns 1024x1024',
      singleCall('reduce_sum', [[1024, 1024]], { axes: [0], keepdims: false }),
    ),
    moved(
      'reduce_sum all 1024x1024',
      singleCall('reduce_sum', [[1024, 1024]], { axes: [0, 1], keepdims: false }),
    ),
    moved('transpose 2048x2048', singleCall('transpose', [[2048, 2048]], { perm: [1, 0] })),
    moved('add 4M', singleCall('add', [[1 << 22], [1 << 22]], {})),
    moved(
      'add channel 64x256x256',
      singleCall(
        'add',
        [
          [1, 64, 256, 256],
          [64, 1, 1],
        ],
        {},
      ),
    ),
    moved('chain of 16 over 1M', chain(16, 1 << 20)),
    moved('chain of 16 over 4M', chain(16, 1 << 22)),
    moved(
      'max_pool 3x3 s2 64 113',
      singleCall('max_pool', [[1, 64, 113, 113]], {
        kernel: [3, 3],
        strides: [2, 2],
        pads: [0, 0, 0, 0],
        dilations: [1, 1],
        ceil_mode: false,
      }),
    ),
    moved('global_avg_pool 1000x13x13', singleCall('global_avg_pool', [[1, 1000, 13, 13]], {})),
  ];
}
