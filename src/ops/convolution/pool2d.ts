import { CONCRETE_DIMS, type DimContext } from '../../core/dim-context.ts';
import type { Dim } from '../../core/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { elementCount } from '../../core/shape.ts';
import { boolAttribute, intsAttribute } from '../attributes.ts';
import { type AttributeSpec, defineOp, type OpCase, type OpDefinition } from '../define-op.ts';
import { float32Elements } from '../elements.ts';
import {
  formatType,
  operand,
  requireElements,
  requireMinimumRank,
  requireRank,
} from '../operand-checks.ts';
import { lowerGlobalPool2d, lowerPool2d } from './pool2d-lowering.ts';
import { reduceTensor } from '../reduction/reduce.ts';
import { tapRange, type WindowAxis, windowAxes } from './window.ts';

type PoolKind = 'max' | 'average';

const WINDOW_ATTRIBUTES: Readonly<Record<string, AttributeSpec>> = {
  kernel: { type: 'ints', length: 2, minimum: 1 },
  strides: { type: 'ints', default: [1, 1], length: 2, minimum: 1 },
  pads: { type: 'ints', default: [0, 0, 0, 0], length: 4, minimum: 0 },
  dilations: { type: 'ints', default: [1, 1], length: 2, minimum: 1 },
  ceil_mode: { type: 'bool', default: false },
};

interface PoolSpec {
  readonly name: string;
  readonly kind: PoolKind;
  readonly summary: string;
}

function definePool({ name, kind, summary }: PoolSpec): OpDefinition {
  const counted: Readonly<Record<string, AttributeSpec>> =
    kind === 'average' ? { count_include_pad: { type: 'bool', default: false } } : {};
  return defineOp({
    name,
    kind: 'anchor',
    summary,
    inputs: [{ name: 'x', dtypes: ['float32'] }],
    attributes: { ...WINDOW_ATTRIBUTES, ...counted },
    infer(inputs, attributes, dims) {
      const x = operand(inputs, 0);
      requireRank(x, 4, `${name}: input x`);
      const [rows, columns] = poolAxes(x.shape, attributes, { name, dims });
      checkPads(attributes, name);
      return { dtype: 'float32', shape: [...x.shape.slice(0, 2), rows.count, columns.count] };
    },
    reference(inputs, attributes, output) {
      const x = operand(inputs, 0);
      const [rows, columns] = poolAxes(x.shape, attributes, { name, dims: CONCRETE_DIMS });
      const countsPad = kind === 'average' && boolAttribute(attributes, 'count_include_pad');
      poolPlanes(x, output, { kind, countsPad, rows, columns });
    },
    lower: lowerPool2d(kind),
    tolerance: kind === 'max' ? { rtol: 0, atol: 0 } : { rtol: 1e-5, atol: 1e-6 },
    cases: () => poolCases(kind),
    badCases: () => [
      { title: 'no kernel', inputs: [{ dtype: 'float32', shape: [1, 1, 4, 4] }] },
      poolCase([4, 4], { kernel: [2, 2] }),
      poolCase([1, 1, 2, 2], { kernel: [3, 3] }),
      poolCase([1, 1, 4, 4], { kernel: [2, 2], pads: [2, 0, 0, 0] }),
      poolCase([1, 1, 4, 4], { kernel: [2, 2], strides: [0, 1] }),
      poolCase([1, 1, 4, 4], { kernel: [2, 2], ceil_mode: 1 }),
      {
        title: 'bad dtype',
        inputs: [{ dtype: 'int32', shape: [1, 1, 2, 2] }],
        attributes: { kernel: [1, 1] },
      },
    ],
  });
}

function poolAxes<D extends Dim>(
  shape: readonly D[],
  attributes: Attributes,
  { name, dims }: { readonly name: string; readonly dims: DimContext<D> },
): [WindowAxis<D>, WindowAxis<D>] {
  return windowAxes(shape, attributes, {
    name,
    kernel: intsAttribute(attributes, 'kernel').map((size) => dims.of(size)),
    ceilMode: boolAttribute(attributes, 'ceil_mode'),
    dims,
  });
}

function checkPads(attributes: Attributes, name: string): void {
  const [kernel, dilations, pads] = ['kernel', 'dilations', 'pads'].map((list) =>
    intsAttribute(attributes, list),
  );
  for (const axis of [0, 1]) {
    const extent = (dilations?.[axis] ?? 1) * ((kernel?.[axis] ?? 1) - 1) + 1;
    const largest = Math.max(pads?.[axis] ?? 0, pads?.[axis + 2] ?? 0);
    if (largest < extent) continue;
    throw new ShapeError({
      where: `${name}: attribute pads`,
      got: `${largest}`,
      expected: `less than the window of ${extent}, so that no window lies in the padding`,
    });
  }
}

interface PoolPlan {
  readonly kind: PoolKind;
  readonly countsPad: boolean;
  readonly rows: WindowAxis;
  readonly columns: WindowAxis;
}

/**
 * The mean divides by the elements inside the image, or inside image and padding with `countsPad`;
 * what `ceil_mode` adds beyond the padding never counts. NaN in a window makes its maximum NaN.
 */
function poolPlanes(x: HostTensor, output: HostTensor, plan: PoolPlan): void {
  const { rows, columns } = plan;
  const from = float32Elements(x);
  const to = float32Elements(output);
  const planes = elementCount(output.shape.slice(0, 2));
  const rowWindows = windows(rows, plan.countsPad);
  const columnWindows = windows(columns, plan.countsPad);
  let out = 0;
  for (let plane = 0; plane < planes; plane++) {
    const offset = plane * rows.size * columns.size;
    for (const row of rowWindows) {
      for (const column of columnWindows) {
        to[out] = poolWindow(from, offset, { plan, row, column });
        out++;
      }
    }
  }
}

/** One position of a window along an axis: its taps that lie inside, and how many count. */
interface PlacedWindow {
  /** Source index of tap 0, inside or not. */
  readonly start: number;
  readonly firstTap: number;
  readonly endTap: number;
  readonly counted: number;
}

function windows(axis: WindowAxis, countsPad: boolean): PlacedWindow[] {
  return Array.from({ length: axis.count }, (_, i) => {
    const start = i * axis.stride - axis.padBefore;
    const [firstTap, endTap] = tapRange(axis, start);
    const counted = countsPad ? paddedTaps(axis, start) : endTap - firstTap;
    return { start, firstTap, endTap, counted };
  });
}

interface PoolPlace {
  readonly plan: PoolPlan;
  readonly row: PlacedWindow;
  readonly column: PlacedWindow;
}

function poolWindow(x: Float32Array, offset: number, { plan, row, column }: PoolPlace): number {
  const { rows, columns } = plan;
  let largest = -Infinity;
  let sum = 0;
  for (let r = row.firstTap; r < row.endTap; r++) {
    const from = offset + (row.start + r * rows.dilation) * columns.size + column.start;
    for (let s = column.firstTap; s < column.endTap; s++) {
      const value = x[from + s * columns.dilation] ?? 0;
      sum += value;
      if (value > largest || Number.isNaN(value)) largest = value;
    }
  }
  if (plan.kind === 'max') return largest;
  return sum / Math.max(row.counted * column.counted, 1);
}

function paddedTaps({ size, kernel, dilation, padAfter }: WindowAxis, start: number): number {
  return Math.min(kernel, Math.ceil((size + padAfter - start) / dilation));
}

function poolCases(kind: PoolKind): OpCase[] {
  const average: OpCase[] = [
    poolCase([1, 2, 5, 5], { kernel: [3, 3], pads: [1, 1, 1, 1], count_include_pad: true }),
    poolCase([1, 1, 6, 7], {
      kernel: [3, 3],
      strides: [2, 2],
      pads: [1, 0, 1, 2],
      ceil_mode: true,
      count_include_pad: true,
    }),
  ];
  return [
    poolCase([1, 1, 1, 1], { kernel: [1, 1] }),
    poolCase([2, 3, 8, 8], { kernel: [2, 2], strides: [2, 2] }),
    poolCase([1, 2, 7, 9], { kernel: [3, 2], strides: [2, 1], pads: [1, 0, 2, 1] }),
    poolCase([1, 2, 10, 10], { kernel: [3, 3], dilations: [2, 3] }),
    poolCase([1, 3, 13, 13], { kernel: [3, 3], strides: [2, 2], ceil_mode: true }),
    poolCase([1, 1, 4, 4], {
      kernel: [2, 2],
      strides: [3, 3],
      pads: [1, 1, 1, 1],
      ceil_mode: true,
    }),
    poolCase([0, 3, 4, 4], { kernel: [2, 2] }),
    poolCase([1, 16, 55, 55], { kernel: [3, 3], strides: [2, 2] }),
    poolCase([3, 1, 30, 31], { kernel: [5, 30], pads: [2, 0, 2, 0] }),
    ...(kind === 'average' ? average : []),
  ];
}

function poolCase(shape: readonly number[], attributes: Attributes): OpCase {
  return {
    title: `(${shape.join(', ')}) ${JSON.stringify(attributes)}`,
    inputs: [{ dtype: 'float32', shape }],
    attributes,
  };
}

function defineGlobalPool({ name, kind, summary }: PoolSpec): OpDefinition {
  const spatialAxes = (rank: number) => Array.from({ length: rank - 2 }, (_, i) => i + 2);
  return defineOp({
    name,
    kind: 'reduction',
    summary,
    inputs: [{ name: 'x', dtypes: ['float32'] }],
    attributes: {},
    infer(inputs, _, dims) {
      const x = operand(inputs, 0);
      requireMinimumRank(x, 3, `${name}: input x`);
      const kept = x.shape.slice(0, 2);
      const spatial = x.shape.slice(2);
      requireElements({ kept, reduced: spatial }, dims, () => ({
        where: name,
        got: formatType(x),
        expected: 'elements to pool',
      }));
      return { dtype: 'float32', shape: [...kept, ...spatial.map(() => dims.of(1))] };
    },
    reference(inputs, _, output) {
      const x = operand(inputs, 0);
      const axes = new Set(spatialAxes(x.shape.length));
      reduceTensor(kind === 'max' ? 'max' : 'mean', x, { axes, output });
    },
    lower: lowerGlobalPool2d(kind),
    tolerance: kind === 'max' ? { rtol: 0, atol: 0 } : { rtol: 1e-4, atol: 1e-5 },
    cases: () =>
      [
        [1, 1, 1, 1],
        [2, 3, 5, 7],
        [1, 70, 13, 13],
        [0, 3, 2, 2],
        [2, 3, 9],
        [1, 2, 3, 4, 5],
        [1, 3, 150, 151],
      ].map((shape) => ({
        title: `(${shape.join(', ')})`,
        inputs: [{ dtype: 'float32', shape }],
      })),
    badCases: () => [
      { title: 'bad rank', inputs: [{ dtype: 'float32', shape: [2, 3] }] },
      { title: 'no elements', inputs: [{ dtype: 'float32', shape: [2, 3, 0, 4] }] },
      { title: 'bad dtype', inputs: [{ dtype: 'int32', shape: [1, 1, 2, 2] }] },
    ],
  });
}

export const POOL_OPS: readonly OpDefinition[] = [
  definePool({
    name: 'max_pool2d',
    kind: 'max',
    summary: 'The maximum of a window over (N, C, H, W). NaN stays NaN on the host.',
  }),
  definePool({
    name: 'avg_pool2d',
    kind: 'average',
    summary: 'The mean of a window over (N, C, H, W), padding counted if asked.',
  }),
  defineGlobalPool({
    name: 'global_max_pool',
    kind: 'max',
    summary: 'The maximum of each channel: (N, C, ...) to (N, C, 1, ...).',
  }),
  defineGlobalPool({
    name: 'global_avg_pool',
    kind: 'average',
    summary: 'The mean of each channel: (N, C, ...) to (N, C, 1, ...).',
  }),
];
