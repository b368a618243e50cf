import source from '../../../shaders/grid-sample.wgsl?raw';
import { formatDim } from '../../core/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { elementCount, type Shape } from '../../core/shape.ts';
import { boolAttribute, stringAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { floatElements } from '../elements.ts';
import { elementKernel } from '../element-kernel.ts';
import { type KernelSpec, type LoweringCall, type Operands } from '../lowering.ts';
import { formatType, operand, requireMinimumRank } from '../operand-checks.ts';

const NAME = 'grid_sample';
const MODES = ['nearest', 'linear', 'cubic'];
const PADDINGS = ['zeros', 'border', 'reflection'];

/** M. Jaderberg et al., "Spatial Transformer Networks" (2015). */
export const gridSample: OpDefinition = defineOp({
  name: NAME,
  kind: 'anchor',
  summary:
    'Samples of x (N, C, ...sizes) at the places that grid (N, ...points, rank) tells, from -1 to 1, ' +
    'the last axis first: (N, C, ...points).',
  inputs: [
    { name: 'x', dtypes: FLOATS },
    { name: 'grid', dtypes: FLOATS },
  ],
  attributes: {
    mode: { type: 'string', default: 'linear', oneOf: MODES },
    padding: { type: 'string', default: 'zeros', oneOf: PADDINGS },
    align_corners: { type: 'bool', default: false },
  },
  infer(inputs, attributes, dims) {
    const [x, grid] = [operand(inputs, 0), operand(inputs, 1)];
    requireMinimumRank(x, 3, `${NAME}: input x`);
    const rank = x.shape.length - 2;
    const [batch = dims.of(0), channels = dims.of(0), ...sizes] = x.shape;
    const complaint = () => ({
      where: `${NAME}: input grid`,
      got: `${formatType(grid)} for ${formatType(x)}`,
      expected: `(${formatDim(batch)}, ..., ${rank}), of the rank of x, at most 5`,
    });
    if (rank > 3 || grid.shape.length !== rank + 2) throw new ShapeError(complaint());
    const [images = dims.of(0), ...points] = grid.shape;
    dims.requireEqual(images, batch, complaint);
    dims.requireEqual(points.pop() ?? dims.of(0), rank, complaint);
    if (stringAttribute(attributes, 'padding') !== 'zeros') {
      for (const size of sizes) {
        dims.requireAtMost(dims.of(1), size, () => ({
          where: `${NAME}: input x`,
          got: formatType(x),
          expected: 'something to repeat beyond the borders',
        }));
      }
    }
    return { dtype: x.dtype, shape: [batch, channels, ...points] };
  },
  reference: sampleGrid,
  lower: lowerGridSample,
  tolerance: { rtol: 1e-4, atol: 1e-4 },
  cases: () => [
    gridCase([1, 1, 1, 1], [1, 1, 1]),
    ...MODES.flatMap((mode) =>
      PADDINGS.flatMap((padding) =>
        [false, true].map((align_corners) =>
          gridCase([2, 3, 5, 7], [2, 4, 3], { mode, padding, align_corners }),
        ),
      ),
    ),
    gridCase([1, 2, 9], [1, 11], { padding: 'reflection', align_corners: true }),
    gridCase([2, 2, 3, 4, 5], [2, 2, 3, 6], { padding: 'border' }),
    gridCase([1, 3, 4, 2, 5], [1, 3, 2, 2], { mode: 'cubic', padding: 'reflection' }),
    gridCase([1, 1, 3, 1], [1, 2, 5], { padding: 'reflection', align_corners: true }),
    gridCase([1, 2, 0, 3], [1, 2, 2]),
    gridCase([1, 2, 3, 3], [1, 0, 2]),
  ],
  badCases: () => [
    gridCase([2, 3], [2]),
    gridCase([1, 1, 2, 2, 2, 2], [1, 1, 1, 1, 1]),
    gridCase([2, 1, 3, 3], [1, 2, 2]),
    gridCase([1, 1, 0, 3], [1, 2, 2], { padding: 'border' }),
    gridCase([1, 1, 3, 3], [1, 2, 2], { mode: 'area' }),
  ],
});

function gridCase(x: Shape, points: Shape, attributes: Attributes = {}): OpCase {
  return {
    title: `(${x.join(', ')}) at (${points.join(', ')}) ${JSON.stringify(attributes)}`,
    inputs: [
      { dtype: 'float32', shape: x },
      { dtype: 'float32', shape: [...points, x.length - 2], range: [-2.7, 2.7] },
    ],
    attributes,
  };
}

interface Sampling {
  readonly mode: string;
  readonly padding: string;
  readonly isAligned: boolean;
}

function samplingOf(attributes: Attributes): Sampling {
  return {
    mode: stringAttribute(attributes, 'mode'),
    padding: stringAttribute(attributes, 'padding'),
    isAligned: boolAttribute(attributes, 'align_corners'),
  };
}

function sampleGrid(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  output: HostTensor,
): void {
  const [x, grid] = [operand(inputs, 0), operand(inputs, 1)];
  const [elements, places, y] = [floatElements(x), floatElements(grid), floatElements(output)];
  const [, channels = 1, ...sizes] = x.shape;
  const pixels = elementCount(sizes);
  const points = elementCount(output.shape.slice(2));
  const how = samplingOf(attributes);
  for (let i = 0; i < y.length; i++) {
    const plane = Math.floor(i / points);
    const at = (Math.floor(plane / channels) * points + (i % points)) * sizes.length;
    let taps = [{ index: plane * pixels, weight: 1 }];
    let stride = pixels;
    for (const [axis, size] of sizes.entries()) {
      stride /= size;
      const own = tapsOf(places[at + sizes.length - 1 - axis] ?? 0, size, how);
      taps = taps.flatMap(({ index, weight }) =>
        own.map((tap) => ({ index: index + tap.index * stride, weight: weight * tap.weight })),
      );
    }
    y[i] = taps.reduce((sum, { index, weight }) => sum + weight * (elements[index] ?? 0), 0);
  }
}

interface Tap {
  readonly index: number;
  readonly weight: number;
}

/** The elements of an axis around a place, those that are there. */
function tapsOf(from: number, size: number, { mode, padding, isAligned }: Sampling): Tap[] {
  const low = isAligned ? 0 : -0.5;
  const high = size - 1 - low;
  const scaled = Math.fround(Math.fround(from + 1) * (isAligned ? size - 1 : size));
  let at = Math.fround(isAligned ? scaled : scaled - 1) / 2;
  if (mode === 'nearest') at = roundHalfEven(at);
  if (at < low || at > high) {
    if (padding === 'border') at = Math.min(Math.max(at, 0), size - 1);
    if (padding === 'reflection') at = mirrored(at, low, high);
  }
  const begin = Math.floor(at) - (mode === 'cubic' ? 1 : 0);
  const count = mode === 'nearest' ? 1 : mode === 'cubic' ? 4 : 2;
  const taps: Tap[] = [];
  for (let index = begin; index < begin + count; index++) {
    const distance = Math.abs(index - at);
    const weight = mode === 'cubic' ? cubic(distance) : 1 - distance;
    const isInside = index >= 0 && index < size;
    if (!isInside && padding === 'zeros') continue;
    const mirror = padding === 'reflection' && !isInside;
    const resolved = mirror ? Math.round(mirrored(index, low, high)) : index;
    taps.push({ index: Math.min(Math.max(resolved, 0), size - 1), weight });
  }
  return taps;
}

function mirrored(at: number, low: number, high: number): number {
  const span = high - low;
  if (span <= 0) return low;
  const distance = Math.abs(at - low);
  const turns = Math.floor(distance / span);
  const rest = distance - turns * span;
  return turns % 2 === 0 ? low + rest : high - rest;
}

function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

/** R. Keys' kernel with a = -0.75. */
function cubic(x: number): number {
  return x <= 1 ? (1.25 * x - 2.25) * x * x + 1 : ((-0.75 * x + 3.75) * x - 6) * x + 3;
}

function lowerGridSample({
  inputs,
  output,
  attributes,
  caps,
}: LoweringCall): readonly KernelSpec[] {
  const [, channels = 1, ...sizes] = inputs[0]?.shape ?? [];
  const [width = 1, height = 1, depth = 1] = sizes.toReversed();
  const { mode, padding, isAligned } = samplingOf(attributes);
  const count = elementCount(output.shape);
  return elementKernel(count, caps, {
    name: 'grid-sample',
    source,
    constants: {
      RANK: sizes.length,
      MODE: MODES.indexOf(mode),
      PADDING: PADDINGS.indexOf(padding),
      ALIGN_CORNERS: isAligned,
    },
    params: {
      channels: channels,
      points: elementCount(output.shape.slice(2)),
      in_d: depth,
      in_h: height,
      in_w: width,
    },
    hooks: ['x', 'grid'],
  });
}
