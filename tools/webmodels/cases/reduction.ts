import {
  between,
  i32,
  i32scalar,
  isCode,
  type Kind,
  type LiteCases,
  type LiteCaseTable,
  like,
  NUMBERS,
  reals,
} from './lite-case.ts';

/** Sums and means may have other codes than what they are of; maxima have the same. */
const reduce = (kinds: readonly Kind[], isRaw: boolean): LiteCases => ({
  kinds,
  draw(draw, kind) {
    const x = draw.operand(kind, draw.dims(1, 4), kind === 'float32' ? { elements: reals } : {});
    const axes = draw.axes(x.shape.length);
    const keepDims = draw.often(0.5);
    const reduced = new Set(axes.map((axis) => (axis < 0 ? axis + x.shape.length : axis)));
    const shape = keepDims
      ? x.shape.map((dim, axis) => (reduced.has(axis) ? 1 : dim))
      : x.shape.filter((_, axis) => !reduced.has(axis));
    const terms = x.shape.reduce(
      (product, dim, axis) => (reduced.has(axis) ? product * dim : product),
      1,
    );
    const output = isRaw || !isCode(kind) ? like(x, shape) : draw.result(kind, shape, terms);
    return {
      options: ['reducer', { keepDims }],
      inputs: [x, i32(axes)],
      outputs: [output],
      atol: 1e-5 * terms,
    };
  },
});

const product: LiteCases = {
  kinds: ['float32', 'int32'],
  draw(draw, kind) {
    const { draw: drawCase } = reduce(NUMBERS, true);
    return { ...drawCase(draw, kind), atol: 1e-2, rtol: 1e-4 };
  },
};

const argOf = (table: string): LiteCases => ({
  kinds: ['float32', 'int32', 'int8', 'uint8'],
  draw(draw, kind) {
    const x = draw.operand(kind, draw.dims(1, 4));
    const axis = draw.int(0, x.shape.length - 1);
    const type = draw.pick(['int32', 'int64'] as const);
    return {
      options: [table, { type: type === 'int32' ? 2 : 4 }],
      inputs: [x, i32scalar(draw.sign(axis, x.shape.length))],
      outputs: [{ dtype: type, shape: x.shape.toSpliced(axis, 1) }],
    };
  },
});

const topK: LiteCases = {
  kinds: ['float32', 'int32', 'int8', 'uint8'],
  draw(draw, kind) {
    const x = draw.operand(kind, draw.dims(1, 3));
    const last = x.shape.at(-1) ?? 1;
    const count = draw.int(1, last);
    const shape = x.shape.with(x.shape.length - 1, count);
    return { inputs: [x, i32scalar(count)], outputs: [like(x, shape), { dtype: 'int32', shape }] };
  },
};

const cumsum: LiteCases = {
  kinds: NUMBERS,
  draw(draw, kind) {
    const x = draw.operand(kind, draw.dims(1, 4));
    return {
      options: ['cumsum', { exclusive: draw.often(0.5), reverse: draw.often(0.5) }],
      inputs: [x, i32scalar(draw.axis(x.shape.length))],
      outputs: [like(x, x.shape)],
    };
  },
};

const range: LiteCases = {
  kinds: ['float32', 'int32'],
  draw(draw, kind) {
    const dtype = kind === 'int32' ? 'int32' : 'float32';
    const step = draw.pick([1, 2, 3, -1, -2]) / (dtype === 'int32' ? 1 : 2);
    const count = draw.int(1, 9);
    const start = draw.int(-5, 5);
    const [limit] = [start + step * count];
    const scalars = [start, limit, step].map((value) => {
      const { data } = draw.operand(dtype, [], { elements: { number: () => value } });
      return { dtype, shape: [], data, isConstant: true, isFree: false } as const;
    });
    return { inputs: scalars, outputs: [{ dtype, shape: [count] }] };
  },
};

const shapeOf: LiteCases = {
  kinds: ['float32'],
  draw(draw, kind) {
    const x = draw.operand(kind, draw.dims(1, 4));
    const type = draw.pick(['int32', 'int64'] as const);
    return {
      options: ['shape', { type: type === 'int32' ? 2 : 4 }],
      inputs: [x],
      outputs: [{ dtype: type, shape: [x.shape.length] }],
    };
  },
};

const rank: LiteCases = {
  kinds: ['float32'],
  draw: (draw, kind) => ({
    inputs: [draw.operand(kind, draw.dims(1, 4))],
    outputs: [{ dtype: 'int32', shape: [] }],
  }),
};

const bucketize: LiteCases = {
  kinds: ['float32', 'int32'],
  draw(draw, kind) {
    const x = draw.operand(
      kind,
      draw.dims(1, 3),
      kind === 'float32' ? { elements: between(-3, 3) } : {},
    );
    const boundaries = Array.from({ length: draw.int(1, 5) }, () => draw.real(-3, 3)).toSorted(
      (a, b) => a - b,
    );
    return {
      options: ['bucketize', { boundaries }],
      inputs: [x],
      outputs: [{ dtype: 'int32', shape: x.shape }],
    };
  },
};

const unsortedSegment: LiteCases = {
  kinds: ['float32', 'int32'],
  draw(draw, kind) {
    const x = draw.operand(kind, draw.dims(1, 3));
    const count = draw.int(1, 4);
    const places = Array.from({ length: x.shape[0] ?? 1 }, () => draw.int(0, count - 1));
    return {
      inputs: [x, i32(places), i32scalar(count)],
      outputs: [like(x, x.shape.with(0, count))],
    };
  },
};

const embedding: LiteCases = {
  kinds: ['float32'],
  draw(draw, kind) {
    const x = draw.operand(kind, draw.dims(2, 3));
    const rows = x.shape[0] ?? 1;
    const places = Array.from({ length: draw.int(1, 5) }, () => draw.int(0, rows - 1));
    return {
      inputs: [i32(places), { ...x, isConstant: true, isFree: false }],
      outputs: [like(x, x.shape.with(0, places.length))],
    };
  },
};

export const REDUCTION: LiteCaseTable = {
  MEAN: reduce(['float32', 'int8', 'uint8'], false),
  SUM: reduce(['float32', 'int32', 'int64', 'int8', 'uint8'], false),
  REDUCE_MAX: reduce(['float32', 'int32', 'int64', 'int8', 'uint8'], true),
  REDUCE_MIN: reduce(['float32', 'int32', 'int64', 'int8', 'uint8'], true),
  REDUCE_PROD: product,
  REDUCE_ANY: reduce(['bool'], true),
  REDUCE_ALL: reduce(['bool'], true),
  ARG_MAX: argOf('argMax'),
  ARG_MIN: argOf('argMin'),
  TOPK_V2: topK,
  CUMSUM: cumsum,
  RANGE: range,
  SHAPE: shapeOf,
  RANK: rank,
  BUCKETIZE: bucketize,
  UNSORTED_SEGMENT_SUM: unsortedSegment,
  UNSORTED_SEGMENT_MAX: unsortedSegment,
  UNSORTED_SEGMENT_MIN: unsortedSegment,
  UNSORTED_SEGMENT_PROD: unsortedSegment,
  EMBEDDING_LOOKUP: embedding,
};
