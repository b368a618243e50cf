import type { DType } from '../../../../src/core/tensor/dtype.ts';
import { HostTensor } from '../../../../src/core/tensor/host-tensor.ts';
import { elementCount } from '../../../../src/core/tensor/shape.ts';
import { type Draw, ints, integersBetween, scalar } from '../draw.ts';
import type { CaseGenerator, CaseTable, NodeCase } from '../node-case.ts';

const ANY: readonly DType[] = [
  'float32',
  'float32',
  'float64',
  'float16',
  'int32',
  'int64',
  'uint8',
  'int8',
  'bool',
  'int16',
  'uint16',
  'uint32',
  'uint64',
];

function concat(draw: Draw): NodeCase {
  const shape = draw.shape({ from: 1 });
  const axis = draw.int(0, shape.length - 1);
  const dtype = draw.pick(ANY);
  const opset = draw.pick([4, 11, 13]);
  return {
    op: 'Concat',
    opset,
    inputs: Array.from({ length: draw.int(1, 5) }, () =>
      draw.tensor(
        dtype,
        shape.map((dim, i) => (i === axis ? draw.int(0, 4) : dim)),
      ),
    ),
    parameters: [draw.int(0, 3)],
    attributes: { axis: opset < 11 ? axis : draw.sign(axis, shape.length) },
  };
}

function split(draw: Draw): NodeCase {
  const opset = draw.pick([2, 11, 13, 18]);
  const shape = draw.shape({ from: 1 });
  const axis = draw.int(0, shape.length - 1);
  const count = draw.int(1, 4);
  const isEven = draw.often(0.4);
  const sizes = Array.from({ length: count }, () => draw.int(0, 4));
  const size = draw.int(1, 3);
  shape[axis] = isEven ? size * count : sizes.reduce((sum, n) => sum + n, 0);
  let uneven = 0;
  if (isEven && opset >= 18 && size > 1 && count > 1 && draw.often(0.5)) {
    uneven = 1;
    shape[axis] = size * count - uneven;
  }
  const x = draw.tensor(draw.pick(ANY), shape);
  const given = opset < 11 || draw.often(0.5) ? axis : axis - shape.length;
  if (opset < 13) {
    return {
      op: 'Split',
      opset,
      inputs: [x],
      attributes: { axis: given, split: isEven ? undefined : sizes },
      outputs: count,
    };
  }
  return {
    op: 'Split',
    opset,
    inputs: isEven ? [x] : [x, ints(sizes)],
    parameters: [1],
    attributes: { axis: given, num_outputs: opset >= 18 && isEven ? count : undefined },
    outputs: count,
  };
}

function transpose(draw: Draw): NodeCase {
  const shape = draw.shape({ to: 6 });
  const perm = draw.shuffled(shape.map((_, i) => i));
  return {
    op: 'Transpose',
    opset: draw.pick([1, 13, 21]),
    inputs: [draw.tensor(draw.pick(ANY), shape)],
    attributes: { perm: shape.length === 0 ? undefined : draw.maybe(() => perm, 0.8) },
  };
}

function reshape(draw: Draw): NodeCase {
  const opset = draw.pick([5, 13, 14, 19]);
  const shape = draw.shape();
  const count = elementCount(shape);
  const target: number[] = [];
  let allowzero: number | undefined;
  if (count === 0) {
    target.push(...draw.shuffled(shape));
    allowzero = opset >= 14 ? 1 : undefined;
    if (allowzero === undefined) target.splice(0, target.length, ...shape.map(() => 0));
  } else {
    let rest = count;
    for (const dim of shape) {
      if (rest % dim === 0 && draw.often(0.6)) {
        target.push(dim);
        rest /= dim;
      }
      if (draw.often(0.2)) target.push(1);
    }
    target.splice(draw.int(0, target.length), 0, draw.often(0.6) ? -1 : rest);
    if (target[0] === shape[0] && draw.often(0.4)) target[0] = 0;
  }
  return {
    op: 'Reshape',
    opset,
    inputs: [draw.tensor(draw.pick(ANY), shape), ints(target)],
    parameters: [1],
    attributes: { allowzero },
  };
}

function squeeze(draw: Draw): NodeCase {
  const opset = draw.pick([1, 11, 13, 21]);
  const shape = draw.shape({ from: 1 }).map((dim) => (draw.often(0.5) ? 1 : dim));
  const ones = shape.flatMap((dim, i) => (dim === 1 ? [i] : []));
  const chosen = draw.shuffled(ones).slice(0, draw.int(1, ones.length));
  const axes =
    ones.length === 0 || draw.often(0.25)
      ? undefined
      : chosen.map((axis) => (opset < 11 ? axis : draw.sign(axis, shape.length)));
  const x = draw.tensor(draw.pick(ANY), shape);
  if (opset < 13) return { op: 'Squeeze', opset, inputs: [x], attributes: { axes } };
  return { op: 'Squeeze', opset, inputs: [x, axes && ints(axes)], parameters: [1] };
}

function unsqueeze(draw: Draw): NodeCase {
  const opset = draw.pick([1, 11, 13, 21]);
  const shape = draw.shape({ to: 4 });
  const count = draw.int(1, 3);
  const rank = shape.length + count;
  const axes = draw.axes(rank, count).map((axis) => (opset < 11 ? (axis + rank) % rank : axis));
  const x = draw.tensor(draw.pick(ANY), shape);
  if (opset < 13) return { op: 'Unsqueeze', opset, inputs: [x], attributes: { axes } };
  return { op: 'Unsqueeze', opset, inputs: [x, ints(axes)], parameters: [1] };
}

function flatten(draw: Draw): NodeCase {
  const opset = draw.pick([1, 9, 11, 13, 21]);
  const shape = draw.shape({ from: opset < 9 ? 1 : 0 });
  const axis = opset < 11 ? draw.int(0, shape.length) : draw.int(-shape.length, shape.length);
  return {
    op: 'Flatten',
    opset,
    inputs: [draw.tensor(draw.pick(opset < 9 ? ['float32'] : ANY), shape)],
    attributes: { axis: shape.length === 0 ? 0 : axis },
  };
}

const HUGE = 2 ** 31 - 1;

function slice(draw: Draw): NodeCase {
  const opset = draw.pick([1, 10, 11, 13]);
  const shape = draw.shape({ from: 1, to: 4 });
  const rank = shape.length;
  const count = draw.int(1, rank);
  const axes = draw.axes(rank, count).map((axis) => (opset < 10 ? (axis + rank) % rank : axis));
  const bound = (axis: number) => {
    const dim = shape.at(axis) ?? 1;
    return draw.often(0.2) ? draw.pick([HUGE, -HUGE - 1, dim + 3, -dim - 3]) : draw.int(-dim, dim);
  };
  const starts = axes.map(bound);
  const ends = axes.map(bound);
  const x = draw.tensor(draw.pick(ANY), shape);
  if (opset < 10) return { op: 'Slice', opset, inputs: [x], attributes: { starts, ends, axes } };
  const dtype = draw.pick(['int64', 'int32'] as const);
  const steps = axes.map(() => draw.pick([1, 2, 3, -1, -2, HUGE, -HUGE]));
  const isWhole = draw.often(0.2);
  const first = axes.map((_, i) => i);
  const at = isWhole ? first.map((i) => i) : axes;
  return {
    op: 'Slice',
    opset,
    inputs: [
      x,
      ints(starts, dtype),
      ints(ends, dtype),
      isWhole ? undefined : ints(at, dtype),
      draw.maybe(() => ints(steps, dtype), 0.6),
    ],
    parameters: draw.pick([
      [1, 2, 3, 4],
      [3, 4],
      [2, 3, 4],
      [1, 3, 4],
    ]),
  };
}

function pad(draw: Draw): NodeCase {
  const opset = draw.pick([2, 11, 13, 18, 19, 21]);
  const shape = draw.shape({ from: 1, to: 4, zero: 0 });
  const modes = ['constant', 'constant', 'reflect', 'edge', ...(opset >= 19 ? ['wrap'] : [])];
  const mode = draw.maybe(() => draw.pick(modes), 0.8);
  const axes = opset >= 18 && draw.often(0.4) ? draw.axes(shape.length) : undefined;
  const dims = axes === undefined ? shape : axes.map((axis) => shape.at(axis) ?? 1);
  const most = (dim: number) => (mode === 'reflect' ? dim - 1 : mode === 'wrap' ? dim : 4);
  const least = (dim: number) => (draw.often(0.25) ? -Math.floor((dim - 1) / 2) : 0);
  const pads = [...dims, ...dims].map((dim) => draw.int(least(dim), most(dim)));
  const dtype =
    opset < 11
      ? 'float32'
      : draw.pick([
          'float32',
          'float32',
          'float64',
          'int32',
          'int64',
          'uint8',
          'int8',
          'bool',
        ] as const);
  const x = draw.tensor(dtype, shape);
  if (opset < 11)
    return {
      op: 'Pad',
      opset,
      inputs: [x],
      attributes: { pads, mode, value: draw.maybe(() => ({ float: 1.5 })) },
    };
  return {
    op: 'Pad',
    opset,
    inputs: [
      x,
      ints(pads),
      draw.maybe(() => scalar(dtype, 1)),
      axes && ints(axes, draw.pick(['int64', 'int32'] as const)),
    ],
    parameters: draw.pick([[1, 3], [1, 2, 3], [3], []]),
    attributes: { mode },
  };
}

function tile(draw: Draw): NodeCase {
  const shape = draw.shape({ from: 1, to: 4 });
  return {
    op: 'Tile',
    opset: draw.pick([6, 13]),
    inputs: [draw.tensor(draw.pick(ANY), shape), ints(shape.map(() => draw.int(0, 3)))],
    parameters: [1],
  };
}

function expand(draw: Draw): NodeCase {
  const shape = draw.shape({ to: 5 });
  const from = draw.broadcastable(shape);
  const target = shape.map((dim) => (draw.often(0.2) ? 1 : dim));
  return {
    op: 'Expand',
    opset: draw.pick([8, 13]),
    inputs: [draw.tensor(draw.pick(ANY), from), ints(target)],
    parameters: [1],
  };
}

function gather(draw: Draw): NodeCase {
  const opset = draw.pick([1, 11, 13]);
  const shape = draw.shape({ from: 1, to: 4, zero: 0 });
  const axis = draw.int(0, shape.length - 1);
  const dim = shape[axis] ?? 1;
  return {
    op: 'Gather',
    opset,
    inputs: [
      draw.tensor(draw.pick(ANY), shape),
      draw.tensor(
        draw.pick(['int64', 'int32'] as const),
        draw.shape({ to: 3 }),
        integersBetween(opset < 11 ? 0 : -dim, dim - 1),
      ),
    ],
    parameters: draw.pick([[1], [0]]),
    attributes: {
      axis: draw.maybe(
        () => (opset < 11 ? axis : draw.sign(axis, shape.length)),
        axis === 0 ? 0.5 : 1,
      ),
    },
  };
}

/** Indices of any sign into one axis, of a shape that is nowhere larger than the data elsewhere. */
function alongAxis(draw: Draw, zero = 0.04) {
  const shape = draw.shape({ from: 1, to: 4, zero: 0 });
  const axis = draw.int(0, shape.length - 1);
  const dim = shape[axis] ?? 1;
  const indexShape = shape.map((size, i) =>
    i === axis ? draw.int(draw.often(zero) ? 0 : 1, 5) : draw.int(1, size),
  );
  return { shape, axis, dim, indexShape };
}

function gatherElements(draw: Draw): NodeCase {
  const { shape, axis, dim, indexShape } = alongAxis(draw);
  return {
    op: 'GatherElements',
    opset: draw.pick([11, 13]),
    inputs: [
      draw.tensor(draw.pick(ANY), shape),
      draw.tensor(
        draw.pick(['int64', 'int32'] as const),
        indexShape,
        integersBetween(-dim, dim - 1),
      ),
    ],
    parameters: [1],
    attributes: { axis: draw.sign(axis, shape.length) },
  };
}

/** How a scatter joins updates of one place, which operator sets have from 16 and 18 on. */
function reductionOf(draw: Draw, opset: number): string | undefined {
  const known = ['none', 'add', 'mul', ...(opset < 18 ? [] : ['max', 'min'])];
  return opset < 16 ? undefined : draw.maybe(() => draw.pick(known), 0.8);
}

function scatterElements(draw: Draw): NodeCase {
  const opset = draw.pick([9, 11, 13, 16, 18]);
  const isOld = opset === 9;
  const { shape, axis, dim, indexShape } = alongAxis(draw);
  const reduction = reductionOf(draw, opset);
  const isUnique = reduction === undefined || reduction === 'none';
  if (isUnique) indexShape[axis] = Math.min(indexShape[axis] ?? 1, dim);
  const indices = draw.tensor('int64', indexShape, integersBetween(0, dim - 1));
  const inner = indexShape.slice(axis + 1).reduce((product, size) => product * size, 1);
  const length = indexShape[axis] ?? 1;
  const order = draw.shuffled(Array.from({ length: dim }, (_, i) => i));
  const unique = Array.from(indices.data as ArrayLike<number | bigint>, (value, i) =>
    isUnique ? (order[Math.floor(i / inner) % Math.max(length, 1)] ?? 0) : Number(value),
  ).map((index) => (isOld || draw.often(0.7) ? index : index - dim));
  const dtype = draw.pick(isUnique ? ANY : (['float32', 'int32', 'int64', 'float64'] as const));
  return {
    op: isOld ? 'Scatter' : 'ScatterElements',
    opset,
    inputs: [
      draw.tensor(dtype, shape),
      HostTensor.from(draw.pick(['int64', 'int32'] as const), indexShape, unique),
      draw.tensor(dtype, indexShape),
    ],
    parameters: [draw.int(0, 2)],
    attributes: { axis: isOld ? axis : draw.sign(axis, shape.length), reduction },
  };
}

function gatherNd(draw: Draw): NodeCase {
  const opset = draw.pick([11, 12, 13]);
  const shape = draw.shape({ from: 1, to: 5, zero: 0 });
  const batch = opset < 12 ? 0 : draw.int(0, shape.length - 1);
  const depth = draw.int(1, shape.length - batch);
  const indexShape = [...shape.slice(0, batch), ...draw.shape({ to: 2 }), depth];
  const values: number[] = [];
  for (let i = 0; i < elementCount(indexShape); i++) {
    const dim = shape[batch + (i % depth)] ?? 1;
    values.push(draw.int(-dim, dim - 1));
  }
  return {
    op: 'GatherND',
    opset,
    inputs: [draw.tensor(draw.pick(ANY), shape), HostTensor.from('int64', indexShape, values)],
    parameters: [1],
    attributes: { batch_dims: opset < 12 ? undefined : batch === 0 ? draw.maybe(() => 0) : batch },
  };
}

function scatterNd(draw: Draw): NodeCase {
  const opset = draw.pick([11, 13, 16, 18]);
  const shape = draw.shape({ from: 1, to: 4, zero: 0 });
  const depth = draw.int(1, shape.length);
  const reduction = reductionOf(draw, opset);
  const isUnique = reduction === undefined || reduction === 'none';
  const places = elementCount(shape.slice(0, depth));
  const count = isUnique ? draw.int(0, Math.min(places, 6)) : draw.int(0, 8);
  const order = draw.shuffled(Array.from({ length: places }, (_, i) => i));
  const values: number[] = [];
  for (let n = 0; n < count; n++) {
    let place = isUnique ? (order[n] ?? 0) : draw.int(0, places - 1);
    const index: number[] = [];
    for (let axis = depth - 1; axis >= 0; axis--) {
      const dim = shape[axis] ?? 1;
      index.unshift(draw.often(0.7) ? place % dim : (place % dim) - dim);
      place = Math.floor(place / dim);
    }
    values.push(...index);
  }
  const dtype = draw.pick(isUnique ? ANY : (['float32', 'int32', 'int64', 'float64'] as const));
  return {
    op: 'ScatterND',
    opset,
    inputs: [
      draw.tensor(dtype, shape),
      HostTensor.from('int64', [count, depth], values),
      draw.tensor(dtype, [count, ...shape.slice(depth)]),
    ],
    parameters: [draw.int(0, 2)],
    attributes: { reduction },
  };
}

function depthSpace(op: string): CaseGenerator {
  return (draw) => {
    const block = draw.int(1, 3);
    const [n, c, h, w] = [draw.int(1, 2), draw.int(1, 3), draw.int(1, 3), draw.int(1, 4)];
    const isDepth = op === 'DepthToSpace';
    const opset = isDepth ? draw.pick([1, 11, 13]) : draw.pick([1, 13]);
    const shape = isDepth ? [n, c * block * block, h, w] : [n, c, h * block, w * block];
    const mode = isDepth && opset >= 11 ? draw.maybe(() => draw.pick(['DCR', 'CRD'])) : undefined;
    return {
      op,
      opset,
      inputs: [draw.tensor(draw.pick(['float32', 'float64', 'uint8'] as const), shape)],
      attributes: { blocksize: block, mode },
    };
  };
}

function oneHot(draw: Draw): NodeCase {
  const shape = draw.shape({ to: 3 });
  const depth = draw.int(1, 5);
  const type = draw.pick(['float32', 'int32', 'int64'] as const);
  const values = draw.pick(['float32', 'int64', 'int32'] as const);
  return {
    op: 'OneHot',
    opset: draw.pick([9, 11]),
    inputs: [
      draw.tensor(type, shape, integersBetween(-depth - 1, depth + 1)),
      draw.often(0.5) ? ints([depth]) : scalar('int64', depth),
      draw.tensor(values, [2]),
    ],
    parameters: draw.pick([[1, 2], [1], [2]]),
    attributes: { axis: draw.maybe(() => draw.int(-shape.length - 1, shape.length)) },
  };
}

function range(draw: Draw): NodeCase {
  const dtype = draw.pick(['float32', 'float64', 'int32', 'int64'] as const);
  const isFloat = dtype.startsWith('float');
  const delta =
    (isFloat ? draw.pick([0.25, 0.5, 0.75, 1, 3]) : draw.int(1, 3)) * (draw.often(0.5) ? 1 : -1);
  return {
    op: 'Range',
    opset: 11,
    inputs: [scalar(dtype, draw.int(-5, 5)), scalar(dtype, draw.int(-9, 9)), scalar(dtype, delta)],
    parameters: draw.pick([[0, 1, 2], [0, 2], []]),
  };
}

function constantOfShape(draw: Draw): NodeCase {
  const dtype = draw.pick(ANY.filter((d) => d !== 'bool'));
  return {
    op: 'ConstantOfShape',
    opset: draw.pick([9, 20, 21]),
    inputs: [ints(draw.shape())],
    parameters: [0],
    attributes: { value: draw.maybe(() => draw.tensor(dtype, [1]), 0.8) },
  };
}

function trilu(draw: Draw): NodeCase {
  const shape = draw.shape({ from: 2, to: 4 });
  return {
    op: 'Trilu',
    opset: 14,
    inputs: [
      draw.tensor(draw.pick(['float32', 'float64', 'int64', 'bool'] as const), shape),
      draw.maybe(() => scalar('int64', draw.pick([-9, -2, -1, 0, 1, 2, 9]))),
    ],
    parameters: [1],
    attributes: { upper: draw.maybe(() => draw.int(0, 1)) },
  };
}

function shapeOf(draw: Draw): NodeCase {
  const opset = draw.pick([1, 13, 15, 19]);
  const shape = draw.shape({ to: 6 });
  const end = () => draw.maybe(() => draw.int(-7, 7));
  return {
    op: 'Shape',
    opset,
    inputs: [draw.tensor(draw.pick(ANY), shape)],
    attributes: opset < 15 ? {} : { start: end(), end: end() },
  };
}

function compress(draw: Draw): NodeCase {
  const shape = draw.shape({ from: 1, to: 4, zero: 0 });
  const axis = draw.maybe(() => draw.axis(shape.length), 0.7);
  const size = axis === undefined ? elementCount(shape) : (shape.at(axis) ?? 1);
  return {
    op: 'Compress',
    opset: draw.pick([9, 11]),
    inputs: [draw.tensor(draw.pick(ANY), shape), draw.tensor('bool', [draw.int(1, size)])],
    parameters: [1],
    attributes: { axis: axis === undefined ? undefined : axis },
  };
}

function unique(draw: Draw): NodeCase {
  const shape = draw.shape({ from: 1, to: 3, zero: 0 });
  return {
    op: 'Unique',
    opset: 11,
    inputs: [
      draw.tensor(
        draw.pick(['float32', 'int64', 'int8', 'float64'] as const),
        shape,
        integersBetween(-2, 2),
      ),
    ],
    attributes: {
      axis: draw.maybe(() => draw.axis(shape.length)),
      sorted: draw.maybe(() => draw.int(0, 1)),
    },
    outputs: draw.pick([4, 1, [true, true], [true, false, true], [true, false, false, true]]),
  };
}

function reverseSequence(draw: Draw): NodeCase {
  const shape = draw.shape({ from: 2, to: 4, zero: 0 });
  const batch = draw.int(0, 1);
  const size = shape[1 - batch] ?? 1;
  return {
    op: 'ReverseSequence',
    opset: 10,
    inputs: [
      draw.tensor(draw.pick(ANY), shape),
      draw.tensor('int64', [shape[batch] ?? 1], integersBetween(1, size)),
    ],
    parameters: [1],
    attributes: { batch_axis: batch, time_axis: 1 - batch },
  };
}

function centerCropPad(draw: Draw): NodeCase {
  const shape = draw.shape({ from: 1, to: 4, zero: 0 });
  const axes = draw.maybe(() => draw.axes(shape.length));
  const target = (axes ?? shape).map(() => draw.int(1, 8));
  return {
    op: 'CenterCropPad',
    opset: 18,
    inputs: [draw.tensor(draw.pick(['float32', 'int32', 'uint8'] as const), shape), ints(target)],
    parameters: [1],
    attributes: { axes },
  };
}

function eyeLike(draw: Draw): NodeCase {
  return {
    op: 'EyeLike',
    opset: draw.pick([9, 22]),
    inputs: [
      draw.tensor(
        draw.pick(['float32', 'int32', 'float64', 'int64'] as const),
        draw.shape({ from: 2, to: 2 }),
      ),
    ],
    attributes: {
      k: draw.maybe(() => draw.int(-4, 4)),
      dtype: draw.maybe(() => draw.pick([1, 6, 7, 11])),
    },
  };
}

export const MOVEMENT_CASES: CaseTable = {
  CenterCropPad: centerCropPad,
  Compress: compress,
  Concat: concat,
  ConstantOfShape: constantOfShape,
  DepthToSpace: depthSpace('DepthToSpace'),
  Expand: expand,
  EyeLike: eyeLike,
  Flatten: flatten,
  Gather: gather,
  GatherElements: gatherElements,
  GatherND: gatherNd,
  NonZero: (draw) => ({
    op: 'NonZero',
    opset: draw.pick([9, 13]),
    inputs: [
      draw.tensor(
        draw.pick(['float32', 'int32', 'int64', 'bool', 'uint8'] as const),
        draw.shape({ to: 4 }),
        integersBetween(-1, 1),
      ),
    ],
  }),
  OneHot: oneHot,
  Pad: pad,
  Range: range,
  Reshape: reshape,
  ReverseSequence: reverseSequence,
  ScatterElements: scatterElements,
  ScatterND: scatterNd,
  Shape: shapeOf,
  Size: (draw) => ({
    op: 'Size',
    opset: draw.pick([1, 13, 19]),
    inputs: [draw.tensor(draw.pick(ANY), draw.shape())],
  }),
  Slice: slice,
  SpaceToDepth: depthSpace('SpaceToDepth'),
  Split: split,
  Squeeze: squeeze,
  Tile: tile,
  Transpose: transpose,
  Trilu: trilu,
  Unique: unique,
  Unsqueeze: unsqueeze,
};
