import source from '../../../shaders/max-roi-pool.wgsl?raw';
import { formatDim } from '../../core/dim.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { elementCount, type Shape } from '../../core/shape.ts';
import { floatAttribute, intsAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { floatElements } from '../elements.ts';
import { elementKernel } from '../element-kernel.ts';
import { f32, type KernelSpec, type LoweringCall, type Operands } from '../lowering.ts';
import { commonDType, formatType, operand, present, requireRank } from '../operand-checks.ts';

/**
 * Pooling of regions: R. Girshick, "Fast R-CNN" (2015). A region is (image, x1, y1, x2, y2), its
 * corners rounded to pixels, both inside; cells overlap where they do not divide it.
 */
export const maxRoiPool: OpDefinition = defineOp({
  name: 'max_roi_pool',
  kind: 'anchor',
  summary:
    'The maxima of the cells of a grid over regions (R, 5) of x (N, C, H, W): (R, C, ...size). A ' +
    'cell outside of the image gives 0.',
  inputs: [
    { name: 'x', dtypes: FLOATS },
    { name: 'rois', dtypes: FLOATS },
  ],
  attributes: {
    size: { type: 'ints', length: 2, minimum: 1 },
    scale: { type: 'float', default: 1 },
  },
  infer(inputs, attributes, dims) {
    const [x, rois] = [operand(inputs, 0), operand(inputs, 1)];
    requireRank(x, 4, 'max_roi_pool: input x');
    requireRank(rois, 2, 'max_roi_pool: input rois');
    const [regions = dims.of(0), width = dims.of(0)] = rois.shape;
    dims.requireEqual(width, 5, () => ({
      where: 'max_roi_pool: input rois',
      got: formatType(rois),
      expected: `(${formatDim(regions)}, 5)`,
    }));
    const [height = 1, columns = 1] = intsAttribute(attributes, 'size');
    const channels = x.shape[1] ?? dims.of(0);
    return {
      dtype: commonDType(present(inputs), 'max_roi_pool'),
      shape: [regions, channels, dims.of(height), dims.of(columns)],
    };
  },
  reference: poolRegions,
  lower: lowerMaxRoiPool,
  tolerance: { rtol: 0, atol: 0 },
  cases: () => [
    roiCase([1, 1, 1, 1], [[0, 0, 0, 0, 0]], { size: [1, 1] }),
    roiCase(
      [2, 3, 8, 9],
      [
        [1, 1, 2, 6, 7],
        [0, 3, 3, 2, 2],
        [0, 5, 4, 12, 11],
      ],
      { size: [3, 2] },
    ),
    roiCase(
      [1, 2, 10, 10],
      [
        [0, 3, 5, 14, 17],
        [0, -9, -9, -7, -7],
      ],
      { size: [4, 4], scale: 0.5 },
    ),
    roiCase([1, 2, 4, 4], [], { size: [2, 2] }),
  ],
  badCases: () => [
    { ...roiCase([1, 1, 4, 4], [[0, 0, 0, 1, 1]], {}), title: 'no size' },
    roiCase([1, 4, 4], [[0, 0, 0, 1, 1]], { size: [2, 2] }),
    {
      title: 'regions of four numbers',
      inputs: [
        [1, 1, 4, 4],
        [2, 4],
      ].map((shape) => ({ dtype: 'float32', shape })),
      attributes: { size: [2, 2] },
    },
  ],
});

function roiCase(x: Shape, rois: readonly (readonly number[])[], attributes: Attributes): OpCase {
  return {
    title: `${rois.length} of (${x.join(', ')}) ${JSON.stringify(attributes)}`,
    inputs: [
      { dtype: 'float32', shape: x },
      { dtype: 'float32', shape: [rois.length, 5], values: rois.flat() },
    ],
    attributes,
  };
}

function poolRegions(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  output: HostTensor,
): void {
  const x = operand(inputs, 0);
  const [elements, rois] = [floatElements(x), floatElements(operand(inputs, 1))];
  const y = floatElements(output);
  const scale = Math.fround(floatAttribute(attributes, 'scale'));
  const [images = 0, channels = 0, height = 0, width = 0] = x.shape;
  const [, , rows = 1, columns = 1] = output.shape;
  const corner = (at: number): number => roundAway(Math.fround((rois[at] ?? 0) * scale));
  for (let i = 0; i < y.length; i++) {
    const region = Math.floor(i / columns / rows / channels);
    const image = Math.min(Math.max(Math.trunc(rois[region * 5] ?? 0), 0), images - 1);
    const plane = (image * channels + (Math.floor(i / columns / rows) % channels)) * height;
    const [top, bottom] = cellOf(corner(region * 5 + 2), corner(region * 5 + 4), {
      index: Math.floor(i / columns) % rows,
      cells: rows,
      size: height,
    });
    const [left, right] = cellOf(corner(region * 5 + 1), corner(region * 5 + 3), {
      index: i % columns,
      cells: columns,
      size: width,
    });
    let largest = top < bottom && left < right ? -Infinity : 0;
    for (let row = top; row < bottom; row++) {
      for (let column = left; column < right; column++) {
        largest = Math.max(largest, elements[(plane + row) * width + column] ?? 0);
      }
    }
    y[i] = largest;
  }
}

interface Cell {
  readonly index: number;
  readonly cells: number;
  readonly size: number;
}

function cellOf(first: number, last: number, { index, cells, size }: Cell): [number, number] {
  const extent = Math.max(last - first + 1, 1);
  const inside = (at: number): number => Math.min(Math.max(at + first, 0), size);
  return [
    inside(Math.floor((index * extent) / cells)),
    inside(Math.ceil(((index + 1) * extent) / cells)),
  ];
}

/** Halves away from zero. */
function roundAway(value: number): number {
  return Math.sign(value) * Math.floor(Math.abs(value) + 0.5);
}

function lowerMaxRoiPool({
  inputs,
  output,
  attributes,
  caps,
}: LoweringCall): readonly KernelSpec[] {
  const [batch = 1, channels = 1, height = 1, width = 1] = inputs[0]?.shape ?? [];
  const [, , rows = 1, columns = 1] = output.shape;
  const count = elementCount(output.shape);
  return elementKernel(count, caps, {
    name: 'max-roi-pool',
    source,
    params: {
      batch: batch,
      channels: channels,
      in_h: height,
      in_w: width,
      out_h: rows,
      out_w: columns,
      scale: f32(floatAttribute(attributes, 'scale')),
      lowest: f32(-Infinity),
    },
    hooks: ['x', 'rois'],
  });
}
