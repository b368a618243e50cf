import { HostTensor } from '../../../../src/core/tensor/host-tensor.ts';
import { elementCount } from '../../../../src/core/tensor/shape.ts';
import { type Draw, integersBetween, ints, quarters, reals } from '../draw.ts';
import type { CaseTable, NodeCase } from '../node-case.ts';

function affineGrid(draw: Draw): NodeCase {
  const rank = draw.pick([2, 2, 3]);
  const n = draw.int(1, 3);
  const sizes = [n, draw.int(1, 3), ...Array.from({ length: rank }, () => draw.int(1, 5))];
  return {
    op: 'AffineGrid',
    opset: 20,
    inputs: [draw.tensor('float32', [n, rank, rank + 1], reals), ints(sizes)],
    parameters: [1],
    attributes: { align_corners: draw.maybe(() => draw.int(0, 1)) },
    atol: 1e-4,
  };
}

function deformConv(draw: Draw): NodeCase {
  const [n, group, offsetGroup] = [draw.int(1, 2), draw.int(1, 2), draw.int(1, 2)];
  const [inner, outer] = [offsetGroup * draw.int(1, 2), group * draw.int(1, 3)];
  const kernel = [draw.int(1, 3), draw.int(1, 3)];
  const strides = draw.maybe(() => [draw.int(1, 2), draw.int(1, 2)]);
  const dilations = draw.maybe(() => [draw.int(1, 2), draw.int(1, 2)]);
  const pads = draw.maybe(() => [0, 1, 1, 0].map((least) => draw.int(least, 2)));
  const image = [draw.int(5, 7), draw.int(5, 7)];
  const result = image.map((size, i) => {
    const extent = ((kernel[i] ?? 1) - 1) * (dilations?.[i] ?? 1) + 1;
    const padded = size + (pads?.[i] ?? 0) + (pads?.[i + 2] ?? 0);
    return Math.floor((padded - extent) / (strides?.[i] ?? 1)) + 1;
  });
  const taps = elementCount(kernel);
  return {
    op: 'DeformConv',
    opset: draw.pick([19, 22]),
    inputs: [
      draw.tensor('float32', [n, inner * group, ...image]),
      draw.tensor('float32', [outer, inner, ...kernel]),
      draw.tensor('float32', [n, offsetGroup * taps * 2, ...result], reals),
      draw.maybe(() => draw.tensor('float32', [outer])),
      draw.maybe(() => draw.tensor('float32', [n, offsetGroup * taps, ...result], reals)),
    ],
    parameters: draw.pick([[1, 3], []]),
    attributes: {
      strides,
      dilations,
      pads,
      group: draw.often(0.5) || group > 1 ? group : undefined,
      offset_group: draw.often(0.5) || offsetGroup > 1 ? offsetGroup : undefined,
      kernel_shape: draw.maybe(() => kernel),
    },
    atol: 1e-3,
  };
}

function maxRoiPool(draw: Draw): NodeCase {
  const n = draw.int(1, 2);
  const count = draw.int(1, 4);
  const rois: number[] = [];
  for (let i = 0; i < count; i++) {
    const [x, y] = [draw.int(0, 6), draw.int(0, 6)];
    rois.push(draw.int(0, n - 1), x, y, x + draw.int(0, 6), y + draw.int(0, 6));
  }
  return {
    op: 'MaxRoiPool',
    opset: draw.pick([1, 22]),
    inputs: [
      draw.tensor('float32', [n, draw.int(1, 3), 7, 6], quarters),
      HostTensor.from('float32', [count, 5], rois),
    ],
    attributes: {
      pooled_shape: [draw.int(1, 3), draw.int(1, 3)],
      spatial_scale: draw.maybe(() => ({ float: draw.pick([0.5, 1, 0.25]) })),
    },
  };
}

/** Indices are places in the padded output that differ from each other. */
function maxUnpool(draw: Draw): NodeCase {
  const rank = draw.pick([1, 2, 2, 3]);
  const kernel = Array.from({ length: rank }, () => draw.int(1, 3));
  const strides = draw.maybe(() => kernel.map((size) => draw.int(1, size)));
  const spatial = kernel.map(() => draw.int(1, 4));
  const lead = [draw.int(1, 2), draw.int(1, 2)];
  const size = spatial.map((dim, i) => (dim - 1) * (strides?.[i] ?? 1) + (kernel[i] ?? 1));
  const isLarger = draw.often(0.3);
  const full = isLarger ? size.map((dim) => dim + draw.int(0, 2)) : size;
  const shape = [...lead, ...spatial];
  const places = draw
    .shuffled(Array.from({ length: elementCount([...lead, ...size]) }, (_, i) => i))
    .slice(0, elementCount(shape));
  return {
    op: 'MaxUnpool',
    opset: draw.pick([9, 11, 22]),
    inputs: [
      draw.tensor('float32', shape, quarters),
      HostTensor.from('int64', shape, places),
      isLarger ? ints([...lead, ...full]) : undefined,
    ],
    parameters: [2],
    attributes: { kernel_shape: kernel, strides },
  };
}

function scatter(draw: Draw): NodeCase {
  const shape = draw.shape({ from: 1, to: 3, zero: 0 });
  const axis = draw.int(0, shape.length - 1);
  const size = shape[axis] ?? 1;
  // One update for each place: the order of several is not defined.
  const places = shape.map((dim, i) => (i === axis ? 1 : dim));
  return {
    op: 'Scatter',
    opset: 9,
    inputs: [
      draw.tensor('float32', shape),
      draw.tensor('int64', places, integersBetween(0, size - 1)),
      draw.tensor('float32', places),
    ],
    attributes: { axis: draw.maybe(() => axis, axis === 0 ? 0.5 : 1) },
  };
}

export const REGION_CASES: CaseTable = {
  AffineGrid: affineGrid,
  DeformConv: deformConv,
  MaxRoiPool: maxRoiPool,
  MaxUnpool: maxUnpool,
  Scatter: scatter,
};
