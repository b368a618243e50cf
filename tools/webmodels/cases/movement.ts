import { elementCount, type Shape } from '../../../src/core/tensor/shape.ts';
import {
  i32,
  i32scalar,
  isCode,
  type Kind,
  like,
  moves,
  type LiteCases,
  type LiteCaseTable,
  type LiteDraw,
  type LiteOperand,
  MOVED,
} from './lite-case.ts';

const FEW: readonly Kind[] = ['float32', 'int32', 'int8', 'uint8'];

/** A shape of the same number of elements. */
function reshaped(draw: LiteDraw, shape: Shape): number[] {
  const factors = shape.flatMap((dim) => (dim === 4 ? [2, 2] : [dim]));
  const result: number[] = [];
  for (const factor of draw.shuffled(factors)) {
    if (result.length > 0 && draw.often(0.4))
      result[result.length - 1] = (result.at(-1) ?? 1) * factor;
    else result.push(factor);
  }
  return result.slice(0, 4).length === result.length ? result : [elementCount(shape)];
}

const reshape = moves((draw, kind) => {
  const x = draw.operand(kind, draw.dims());
  const shape = reshaped(draw, x.shape);
  const asked = draw.often(0.3) ? shape.with(draw.int(0, shape.length - 1), -1) : shape;
  const given = draw.often(0.7);
  return {
    options: ['reshape', given ? {} : { shape: asked }],
    inputs: given ? [x, i32(asked)] : [x],
    outputs: [like(x, shape)],
  };
});

const squeeze = moves((draw, kind) => {
  const shape = draw
    .dims(1, 4)
    .flatMap((dim) => (draw.often(0.4) ? [1, dim] : [dim]))
    .slice(0, 4);
  const ones = shape.flatMap((dim, axis) => (dim === 1 ? [axis] : []));
  const axes = draw.often(0.5) ? [] : ones.filter(() => draw.often(0.7));
  const dropped = axes.length === 0 ? ones : axes;
  const x = draw.operand(kind, shape);
  const left = shape.filter((_, axis) => !dropped.includes(axis));
  return {
    options: ['squeeze', { axes: axes.map((axis) => draw.sign(axis, shape.length)) }],
    inputs: [x],
    outputs: [like(x, left)],
  };
});

const expandDims = moves((draw, kind) => {
  const x = draw.operand(kind, draw.dims(1, 3));
  const axis = draw.int(0, x.shape.length);
  return {
    inputs: [x, i32scalar(draw.sign(axis, x.shape.length + 1))],
    outputs: [like(x, x.shape.toSpliced(axis, 0, 1))],
  };
});

const transpose = moves((draw, kind) => {
  const x = draw.operand(kind, draw.dims(1, 5));
  const perm = draw.shuffled(x.shape.map((_, axis) => axis));
  return {
    inputs: [x, i32(perm)],
    outputs: [
      like(
        x,
        perm.map((axis) => x.shape[axis] ?? 1),
      ),
    ],
  };
});

const concatenation = moves(
  (draw, kind) => {
    const shape = draw.dims(1, 4);
    const axis = draw.int(0, shape.length - 1);
    const sizes = Array.from({ length: draw.int(1, 4) }, () => draw.dim());
    // Codes of uint8 are rescaled where the result has others.
    const quantization = isCode(kind) && kind !== 'uint8' ? draw.codes(kind) : undefined;
    const inputs = sizes.map((size) =>
      draw.operand(
        kind,
        shape.with(axis, size),
        quantization === undefined ? {} : { quantization },
      ),
    );
    const whole = shape.with(
      axis,
      sizes.reduce((sum, size) => sum + size, 0),
    );
    const [first] = inputs;
    const output =
      kind === 'uint8'
        ? draw.result(kind, whole)
        : like(first ?? { dtype: 'float32', shape }, whole);
    return {
      options: ['concatenation', { axis: draw.sign(axis, shape.length), activation: 0 }],
      inputs,
      outputs: [output],
    };
  },
  [...MOVED, 'int16'],
);

const pack = moves(
  (draw, kind) => {
    const shape = draw.dims(1, 3);
    const axis = draw.int(0, shape.length);
    const count = draw.int(1, 4);
    const first = draw.operand(kind, shape);
    const others = Array.from({ length: count - 1 }, () => draw.operand(kind, shape));
    const inputs = [
      first,
      ...others.map((other) => ({ ...other, quantization: first.quantization })),
    ];
    return {
      options: ['pack', { count, axis: draw.sign(axis, shape.length + 1) }],
      inputs,
      outputs: [like(first, shape.toSpliced(axis, 0, count))],
    };
  },
  ['float32', 'int32', 'int8', 'uint8', 'int64'],
);

const unpack = moves(
  (draw, kind) => {
    const x = draw.operand(kind, draw.dims(2, 4));
    const axis = draw.int(0, x.shape.length - 1);
    const count = x.shape[axis] ?? 1;
    const part = like(x, x.shape.toSpliced(axis, 1));
    return {
      options: ['unpack', { count, axis: draw.sign(axis, x.shape.length) }],
      inputs: [x],
      outputs: Array.from({ length: count }, () => part),
    };
  },
  ['float32', 'int32', 'int8', 'uint8', 'bool'],
);

const split = moves((draw, kind) => {
  const shape = draw.dims(1, 4);
  const axis = draw.int(0, shape.length - 1);
  const count = draw.int(1, 4);
  const x = draw.operand(kind, shape.with(axis, (shape[axis] ?? 1) * count));
  return {
    options: ['split', { count }],
    inputs: [i32scalar(draw.sign(axis, shape.length)), x],
    outputs: Array.from({ length: count }, () => like(x, shape)),
  };
}, FEW);

const splitV = moves((draw, kind) => {
  const shape = draw.dims(1, 4);
  const axis = draw.int(0, shape.length - 1);
  const sizes = Array.from({ length: draw.int(1, 4) }, () => draw.dim());
  const x = draw.operand(
    kind,
    shape.with(
      axis,
      sizes.reduce((sum, size) => sum + size, 0),
    ),
  );
  const asked = draw.often(0.3) ? sizes.with(draw.int(0, sizes.length - 1), -1) : sizes;
  return {
    options: ['splitV', { count: sizes.length }],
    inputs: [x, i32(asked), i32scalar(draw.sign(axis, shape.length))],
    outputs: sizes.map((size) => like(x, shape.with(axis, size))),
  };
}, FEW);

const slice = moves((draw, kind) => {
  const x = draw.operand(kind, draw.dims(1, 4));
  const starts = x.shape.map((dim) => draw.int(0, dim - 1));
  const sizes = x.shape.map((dim, axis) => draw.int(1, dim - (starts[axis] ?? 0)));
  const isRest = sizes.map(() => draw.often(0.2));
  const shape = sizes.map((size, axis) =>
    isRest[axis] === true ? (x.shape[axis] ?? 1) - (starts[axis] ?? 0) : size,
  );
  return {
    inputs: [x, i32(starts), i32(sizes.map((size, axis) => (isRest[axis] === true ? -1 : size)))],
    outputs: [like(x, shape)],
  };
});

const bits = (flags: readonly boolean[]): number =>
  flags.reduce((mask, flag, i) => mask | (Number(flag) << i), 0);

const stridedSlice = moves(
  (draw, kind) => {
    const x = draw.operand(kind, draw.dims(1, 4));
    const given = draw.int(1, x.shape.length);
    const axes = x.shape.slice(0, given).map((dim) => {
      const step = draw.pick([1, 1, 1, 2, 3, -1, -2]);
      const isShrunk = step === 1 && draw.often(0.2);
      const places = [draw.int(0, dim - 1), draw.int(0, dim - 1)].toSorted((a, b) =>
        step > 0 ? a - b : b - a,
      );
      const [start = 0, last = 0] = places;
      const [beginMask, endMask] = isShrunk ? [false, false] : [draw.often(0.2), draw.often(0.2)];
      const first = beginMask ? (step > 0 ? 0 : dim - 1) : start;
      const end = last + Math.sign(step);
      const bound = endMask ? (step > 0 ? dim : -1) : end;
      const size = Math.max(0, Math.ceil((bound - first) / step));
      // An end before the first place has no other name than the mask.
      const isBefore = end < 0 && !endMask && !isShrunk;
      return {
        begin: draw.sign(start, dim),
        end: isShrunk ? start + 1 : end < 0 ? 0 : end,
        step,
        beginMask,
        endMask: endMask || isBefore,
        isShrunk,
        size: isShrunk ? undefined : size,
      };
    });
    const sizes = axes.flatMap(({ size }) => (size === undefined ? [] : [size]));
    return {
      options: [
        'stridedSlice',
        {
          begin: bits(axes.map(({ beginMask }) => beginMask)),
          end: bits(axes.map(({ endMask }) => endMask)),
          ellipsis: 0,
          newAxis: 0,
          shrink: bits(axes.map(({ isShrunk }) => isShrunk)),
        },
      ],
      inputs: [
        x,
        i32(axes.map(({ begin }) => begin)),
        i32(axes.map(({ end }) => end)),
        i32(axes.map(({ step }) => step)),
      ],
      outputs: [like(x, [...sizes, ...x.shape.slice(given)])],
    };
  },
  ['float32', 'int32', 'int8', 'uint8', 'int64', 'bool'],
);

function padded(draw: LiteDraw, x: LiteOperand, most: (dim: number) => number) {
  const pads = x.shape.map((dim) => [draw.int(0, most(dim)), draw.int(0, most(dim))] as const);
  const shape = x.shape.map((dim, axis) => dim + (pads[axis]?.[0] ?? 0) + (pads[axis]?.[1] ?? 0));
  return { paddings: i32(pads.flat(), [x.shape.length, 2]), output: like(x, shape) };
}

const pad = moves(
  (draw, kind) => {
    const x = draw.operand(kind, draw.dims(1, 4));
    const { paddings, output } = padded(draw, x, () => 2);
    return { inputs: [x, paddings], outputs: [output] };
  },
  ['float32', 'int32', 'int64', 'int8', 'uint8', 'int16'],
);

const padV2 = moves(
  (draw, kind) => {
    const x = draw.operand(kind, draw.dims(1, 4));
    const { paddings, output } = padded(draw, x, () => 2);
    const filled = draw.operand(kind, []);
    const fill = { ...filled, quantization: x.quantization, isConstant: true, isFree: false };
    return { inputs: [x, paddings, fill], outputs: [output] };
  },
  ['float32', 'int32', 'int64', 'int8', 'uint8'],
);

const mirrorPad = moves((draw, kind) => {
  const x = draw.operand(kind, draw.dims(1, 4));
  const mode = draw.int(0, 1);
  const { paddings, output } = padded(draw, x, (dim) => (mode === 0 ? dim - 1 : dim));
  return { options: ['mirrorPad', { mode }], inputs: [x, paddings], outputs: [output] };
}, FEW);

const tile = moves(
  (draw, kind) => {
    const x = draw.operand(kind, draw.dims(1, 4));
    const times = x.shape.map(() => draw.int(1, 3));
    return {
      inputs: [x, i32(times)],
      outputs: [
        like(
          x,
          x.shape.map((dim, axis) => dim * (times[axis] ?? 1)),
        ),
      ],
    };
  },
  ['float32', 'int32', 'int64', 'bool', 'uint8'],
);

const reverse = moves(
  (draw, kind) => {
    const x = draw.operand(kind, draw.dims(1, 4));
    // Neighbouring axes alone, in their order.
    const first = draw.int(0, x.shape.length - 1);
    const count = draw.int(1, x.shape.length - first);
    return {
      inputs: [x, i32(Array.from({ length: count }, (_, i) => first + i))],
      outputs: [like(x, x.shape)],
    };
  },
  ['float32', 'int32', 'int64', 'uint8', 'bool'],
);

const broadcastTo = moves(
  (draw, kind) => {
    const shape = draw.dims(1, 4);
    const x = draw.operand(kind, draw.broadcastable(shape));
    return { inputs: [x, i32(shape)], outputs: [like(x, shape)], version: 2 };
  },
  ['float32', 'int32', 'int64', 'bool', 'int8', 'uint8'],
);

function blocks(isDeep: boolean): LiteCases {
  return moves(
    (draw, kind) => {
      const block = draw.int(2, 3);
      const [batch, height, width, depth] = [
        draw.int(1, 2),
        draw.int(1, 3),
        draw.int(1, 3),
        draw.int(1, 3),
      ];
      const deep = [batch, height, width, depth * block * block];
      const wide = [batch, height * block, width * block, depth];
      const x = draw.operand(kind, isDeep ? deep : wide);
      const table = isDeep ? 'depthToSpace' : 'spaceToDepth';
      return { options: [table, { block }], inputs: [x], outputs: [like(x, isDeep ? wide : deep)] };
    },
    ['float32', 'int32', 'int8', 'uint8', 'int64'],
  );
}

function batches(isToSpace: boolean): LiteCases {
  return moves(
    (draw, kind) => {
      const sizes = [draw.int(1, 3), draw.int(1, 3)];
      const many = (sizes[0] ?? 1) * (sizes[1] ?? 1);
      const batch = draw.int(1, 2);
      const channels = draw.int(1, 3);
      // In blocks; what is cropped or padded comes off.
      const spatial = sizes.map((size) => size * draw.int(3, 4));
      const cuts = spatial.map(() => [draw.int(0, 1), draw.int(0, 1)] as const);
      const [blocked, flat] = [
        [batch * many, ...spatial.map((size, i) => size / (sizes[i] ?? 1)), channels],
        [
          batch,
          ...spatial.map((size, i) => size - (cuts[i]?.[0] ?? 0) - (cuts[i]?.[1] ?? 0)),
          channels,
        ],
      ];
      const x = draw.operand(kind, isToSpace ? blocked : flat);
      return {
        inputs: [x, i32(sizes), i32(cuts.flat(), [2, 2])],
        outputs: [like(x, isToSpace ? flat : blocked)],
      };
    },
    ['float32', 'int32', 'int8', 'uint8', 'int64'],
  );
}

export const MOVEMENT: LiteCaseTable = {
  RESHAPE: reshape,
  SQUEEZE: squeeze,
  EXPAND_DIMS: expandDims,
  TRANSPOSE: transpose,
  CONCATENATION: concatenation,
  PACK: pack,
  UNPACK: unpack,
  SPLIT: split,
  SPLIT_V: splitV,
  SLICE: slice,
  STRIDED_SLICE: stridedSlice,
  PAD: pad,
  PADV2: padV2,
  MIRROR_PAD: mirrorPad,
  TILE: tile,
  REVERSE_V2: reverse,
  BROADCAST_TO: broadcastTo,
  DEPTH_TO_SPACE: blocks(true),
  SPACE_TO_DEPTH: blocks(false),
  BATCH_TO_SPACE_ND: batches(true),
  SPACE_TO_BATCH_ND: batches(false),
};
