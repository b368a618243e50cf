import { type DType, dtypeInfo } from '../../src/core/tensor/dtype.ts';
import type {
  Attributes,
  PrimitiveFunction,
  TensorType,
} from '../../src/core/contracts/primitive-function.ts';
import { elementCount, type Shape } from '../../src/core/tensor/shape.ts';
import { CORE_OPERATORS } from '../../src/ops/tables/core-operators.ts';
import { inferConcreteCall } from '../../src/ops/infer-concrete-call.ts';
import type { Ceilings } from './ceilings.ts';

/** One measured primitive. */
export interface BenchCase {
  readonly title: string;
  readonly primitive: PrimitiveFunction;
  /** Floating-point operations, for arithmetic; else bytes moved. */
  readonly work: { readonly flops: number } | { readonly bytes: number };
}

const tensor = (shape: Shape, dtype: DType = 'float32') => ({ dtype, shape });

/** A primitive of one operator call over float32 tensors. */
function singleCall(
  op: string,
  shapes: readonly Shape[],
  attributes: Attributes,
): PrimitiveFunction {
  const params = shapes.map((shape) => ({ dtype: 'float32', shape: shape.map(Number) }) as const);
  const call = inferConcreteCall(CORE_OPERATORS.require(op), params, attributes);
  return {
    name: op,
    params,
    body: [{ op, inputs: params.map((_, i) => i), attributes: call.attributes }],
    results: [{ value: params.length, type: call.output }],
  };
}

function matmul(m: number, k: number, n: number): BenchCase {
  const shapes = [
    [m, k],
    [k, n],
  ];
  const primitive = singleCall('matmul', shapes, {});
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

/** A call whose work is to move its operands and its result. */
function moved(
  title: string,
  op: string,
  shapes: readonly Shape[],
  attributes: Attributes = {},
): BenchCase {
  const primitive = singleCall(op, shapes, attributes);
  return { title, primitive, work: { bytes: movedBytes(primitive) } };
}

function movedBytes({ params, results }: PrimitiveFunction): number {
  const tensors = [...params, ...results.map(({ type }) => type)];
  const lengths = tensors.map(
    ({ dtype, shape }) => dtypeInfo(dtype).byteLength * elementCount(shape.map(Number)),
  );
  return lengths.reduce((sum, length) => sum + length, 0);
}

/** The case with elements of float16 in the place of float32. */
export function inFloat16({ title, primitive, work }: BenchCase): BenchCase {
  const half = (type: TensorType): TensorType =>
    type.dtype === 'float32' ? { ...type, dtype: 'float16' } : type;
  const halved = {
    ...primitive,
    params: primitive.params.map(half),
    results: primitive.results.map(({ value, type }) => ({ value, type: half(type) })),
  };
  return {
    title: `${title}, float16`,
    primitive: halved,
    work: 'flops' in work ? work : { bytes: movedBytes(halved) },
  };
}

/** Attention of 8 heads of width 64 over so many positions. */
function attention(queries: number, keys: number): BenchCase {
  const [heads, width] = [8, 64];
  const shapes = [queries, keys, keys].map((length) => [1, heads, length, width]);
  const primitive = singleCall('scaled_dot_product_attention', shapes, { scale: 0.125 });
  const flops = 4 * heads * queries * keys * width;
  return { title: `attention 8 heads ${queries}x${keys}x64`, primitive, work: { flops } };
}

function chain(title: string, count: number): BenchCase {
  const ops = ['relu', 'neg', 'tanh', 'abs'];
  const type = tensor([count]);
  const body = Array.from({ length: 16 }, (_, i) => ({
    op: ops[i % 4] ?? 'relu',
    inputs: [i],
    attributes: {},
  }));
  const primitive = { name: 'chain', params: [type], body, results: [{ value: 16, type }] };
  return { title: `chain of 16 over ${title}`, primitive, work: { bytes: movedBytes(primitive) } };
}

const SQUARE = [[1024, 1024]];
const WINDOW = { kernel: [3, 3], strides: [2, 2], pads: [0, 0, 0, 0], dilations: [1, 1] };

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
    attention(512, 512),
    attention(1, 4096),
    moved('softmax 1024x1024', 'softmax', SQUARE, { axis: -1 }),
    moved('layer_norm 1024x1024', 'layer_norm', SQUARE),
    moved('arg_max 1024x1024', 'arg_max', SQUARE, { axis: 1 }),
    sums('rows', [1]),
    sums('columns', [0]),
    sums('all', [0, 1]),
    moved('transpose 2048x2048', 'transpose', [[2048, 2048]], { perm: [1, 0] }),
    moved('add 4M', 'add', [[1 << 22], [1 << 22]]),
    moved('add channel 64x256x256', 'add', [
      [1, 64, 256, 256],
      [64, 1, 1],
    ]),
    chain('1M', 1 << 20),
    chain('4M', 1 << 22),
    moved('max_pool 3x3 s2 64 113', 'max_pool', [[1, 64, 113, 113]], {
      ...WINDOW,
      ceil_mode: false,
    }),
    moved('global_avg_pool 1000x13x13', 'global_avg_pool', [[1, 1000, 13, 13]]),
  ];
}

const sums = (which: string, axes: readonly number[]): BenchCase =>
  moved(`reduce_sum ${which} 1024x1024`, 'reduce_sum', SQUARE, { axes, keepdims: false });

/** A rate beside the ceiling for its kind of work. */
export interface Rate {
  readonly rate: number;
  readonly unit: 'GFLOPS' | 'GB/s';
  /** Of the ceiling, 1 for all of it. */
  readonly share: number;
}

/** The rate of work that took so many milliseconds. */
export function rateOf(
  work: BenchCase['work'],
  { ms, ceilings }: { readonly ms: number; readonly ceilings: Ceilings },
): Rate {
  const [amount, ceiling, unit] =
    'flops' in work
      ? ([work.flops, ceilings.gflops, 'GFLOPS'] as const)
      : ([work.bytes, ceilings.gbps, 'GB/s'] as const);
  const rate = amount / ms / 1e6;
  return { rate, unit, share: rate / ceiling };
}
