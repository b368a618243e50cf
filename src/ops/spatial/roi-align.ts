import source from '../../../shaders/roi-align.wgsl?raw';
import { formatDim } from '../../core/dim.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { elementCount, type Shape } from '../../core/shape.ts';
import { boolAttribute, floatAttribute, intAttribute, intsAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { type FloatArray, floatElements, numberElements } from '../elements.ts';
import { elementKernel } from '../element-kernel.ts';
import { f32, type KernelSpec, type LoweringCall, type Operands } from '../lowering.ts';
import { formatType, operand, requireRank, requireVector } from '../operand-checks.ts';

const NAME = 'roi_align';

/** More samples than this along a cell add nothing. */
const MAX_SAMPLES = 4096;

/**
 * Pooling of regions without rounding: K. He et al., "Mask R-CNN" (2017). The maximum is one of the
 * four pixels around each sample times its weight, not of interpolated samples: so ONNX has it.
 */
export const roiAlign: OpDefinition = defineOp({
  name: NAME,
  kind: 'anchor',
  summary:
    'Means or maxima of samples between pixels, for the cells of a grid over regions (R, 4) of ' +
    'images of x (N, C, H, W): (R, C, ...size).',
  inputs: [
    { name: 'x', dtypes: FLOATS },
    { name: 'rois', dtypes: FLOATS },
    { name: 'images', dtypes: ['int32'] },
  ],
  attributes: {
    size: { type: 'ints', length: 2, minimum: 1 },
    scale: { type: 'float', default: 1 },
    sampling: { type: 'int', default: 0, minimum: 0 },
    max: { type: 'bool', default: false },
    half_pixel: { type: 'bool', default: true },
  },
  infer(inputs, attributes, dims) {
    const [x, rois, images] = [operand(inputs, 0), operand(inputs, 1), operand(inputs, 2)];
    requireRank(x, 4, `${NAME}: input x`);
    requireRank(rois, 2, `${NAME}: input rois`);
    const [regions = dims.of(0), width = dims.of(0)] = rois.shape;
    const complaint = () => ({
      where: `${NAME}: input rois`,
      got: `${formatType(rois)} for images ${formatType(images)}`,
      expected: `(${formatDim(regions)}, 4) and as many images`,
    });
    dims.requireEqual(width, 4, complaint);
    requireVector(images, regions, { dims, complaint });
    const [height = 1, columns = 1] = intsAttribute(attributes, 'size');
    const [, channels = dims.of(0)] = x.shape;
    return { dtype: x.dtype, shape: [regions, channels, dims.of(height), dims.of(columns)] };
  },
  reference: alignRegions,
  lower: lowerRoiAlign,
  tolerance: { rtol: 1e-4, atol: 1e-4 },
  cases: () => [
    roiCase([1, 1, 1, 1], [[0, 0, 1, 1]], { size: [1, 1] }),
    ...[false, true].flatMap((max) =>
      [false, true].map((half_pixel) =>
        roiCase([2, 3, 8, 9], REGIONS, { size: [3, 2], max, half_pixel, sampling: 2 }),
      ),
    ),
    roiCase([1, 2, 10, 10], REGIONS, { size: [5, 5], scale: 0.5 }),
    roiCase([1, 2, 10, 10], REGIONS, { size: [2, 7], half_pixel: false, max: true }),
    roiCase([1, 2, 4, 4], [], { size: [2, 2] }),
  ],
  badCases: () => [
    { ...roiCase([1, 1, 4, 4], [[0, 0, 1, 1]], {}), title: 'no size' },
    roiCase([1, 4, 4], [[0, 0, 1, 1]], { size: [2, 2] }),
    {
      title: 'two regions of three images',
      inputs: [
        { dtype: 'float32', shape: [1, 1, 4, 4] },
        { dtype: 'float32', shape: [2, 4] },
        { dtype: 'int32', shape: [3] },
      ],
      attributes: { size: [2, 2] },
    },
  ],
});

const REGIONS = [
  [1, 2, 6, 7.5],
  [3.25, 3, 2, 2],
  [-4, -3, 12, 11],
];

function roiCase(x: Shape, rois: readonly (readonly number[])[], attributes: Attributes): OpCase {
  return {
    title: `${rois.length} of (${x.join(', ')}) ${JSON.stringify(attributes)}`,
    inputs: [
      { dtype: 'float32', shape: x },
      { dtype: 'float32', shape: [rois.length, 4], values: rois.flat() },
      { dtype: 'int32', shape: [rois.length], values: rois.map((_, i) => i % (x[0] ?? 1)) },
    ],
    attributes,
  };
}

function alignRegions(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  output: HostTensor,
): void {
  const x = operand(inputs, 0);
  const [elements, rois] = [floatElements(x), floatElements(operand(inputs, 1))];
  const images = numberElements(operand(inputs, 2));
  const y = floatElements(output);
  const [batch = 1, channels = 1, height = 1, width = 1] = x.shape;
  const [, , rows = 1, columns = 1] = output.shape;
  const isMax = boolAttribute(attributes, 'max');
  for (let i = 0; i < y.length; i++) {
    const plane = Math.floor(i / columns / rows);
    const region = Math.floor(plane / channels);
    const image = Math.min(Math.max(images[region] ?? 0, 0), batch - 1);
    const start = (image * channels + (plane % channels)) * height * width;
    const pixels = elements.subarray(start, start + height * width);
    const along = (corner: number, cell: number, cells: number) =>
      samplesOf([rois[corner] ?? 0, rois[corner + 2] ?? 0], { cell, cells, attributes });
    const ys = along(region * 4 + 1, Math.floor(i / columns) % rows, rows);
    const xs = along(region * 4, i % columns, columns);
    let [sum, largest] = [0, ys.length * xs.length === 0 ? 0 : -Infinity];
    for (const py of ys) {
      for (const px of xs) {
        const parts = weighted({ pixels, height, width }, py, px);
        for (const part of parts) sum += part;
        largest = Math.max(largest, ...parts);
      }
    }
    y[i] = isMax ? largest : sum / Math.max(ys.length * xs.length, 1);
  }
}

interface Cell {
  readonly cell: number;
  readonly cells: number;
  readonly attributes: Attributes;
}

/** Where the samples of a cell are along an axis. */
function samplesOf(
  corners: readonly [number, number],
  { cell, cells, attributes }: Cell,
): readonly number[] {
  const scale = Math.fround(floatAttribute(attributes, 'scale'));
  const isHalfPixel = boolAttribute(attributes, 'half_pixel');
  const offset = isHalfPixel ? 0.5 : 0;
  const [begin, end] = corners.map((corner) =>
    Math.fround(Math.fround(corner * scale) - offset),
  ) as [number, number];
  const size = Math.max(Math.fround(end - begin), isHalfPixel ? -Infinity : 1);
  const given = intAttribute(attributes, 'sampling');
  const count = given || Math.min(Math.max(Math.ceil(size / cells), 0), MAX_SAMPLES);
  const extent = size / cells;
  return Array.from({ length: count }, (_, i) => begin + (cell + (i + 0.5) / count) * extent);
}

interface Plane {
  readonly pixels: FloatArray;
  readonly height: number;
  readonly width: number;
}

/** The four pixels around a place times their weights; nothing further than 1 outside. */
function weighted({ pixels, height, width }: Plane, y: number, x: number): readonly number[] {
  if (y < -1 || y > height || x < -1 || x > width) return [0];
  const row = Math.min(Math.max(y, 0), height - 1);
  const column = Math.min(Math.max(x, 0), width - 1);
  const [top, left] = [Math.floor(row), Math.floor(column)];
  const parts: number[] = [];
  for (const down of [0, 1]) {
    for (const right of [0, 1]) {
      const at = Math.min(top + down, height - 1) * width + Math.min(left + right, width - 1);
      const weight = (1 - Math.abs(top + down - row)) * (1 - Math.abs(left + right - column));
      parts.push((pixels[at] ?? 0) * weight);
    }
  }
  return parts;
}

function lowerRoiAlign({ inputs, output, attributes, caps }: LoweringCall): readonly KernelSpec[] {
  const [batch = 1, channels = 1, height = 1, width = 1] = inputs[0]?.shape ?? [];
  const [, , rows = 1, columns = 1] = output.shape;
  const count = elementCount(output.shape);
  const isHalfPixel = boolAttribute(attributes, 'half_pixel');
  return elementKernel(count, caps, {
    name: 'roi-align',
    source,
    constants: { IS_MAX: boolAttribute(attributes, 'max') },
    params: {
      batch: batch,
      channels: channels,
      in_h: height,
      in_w: width,
      out_h: rows,
      out_w: columns,
      sampling: intAttribute(attributes, 'sampling'),
      scale: f32(floatAttribute(attributes, 'scale')),
      offset: f32(isHalfPixel ? 0.5 : 0),
      smallest: f32(isHalfPixel ? -Infinity : 1),
      lowest: f32(-Infinity),
    },
    hooks: ['x', 'rois', 'images'],
  });
}
