import { elementCount } from '../../../src/core/tensor/shape.ts';
import {
  i32,
  i32scalar,
  integersBetween,
  like,
  type Kind,
  type LiteCases,
  type LiteCaseTable,
  moves,
} from './lite-case.ts';

const FEW: readonly Kind[] = ['float32', 'int32', 'int8', 'uint8'];

const gather = moves((draw, kind) => {
  const x = draw.operand(kind, draw.dims(1, 4));
  const axis = draw.int(0, x.shape.length - 1);
  const indexShape = draw.dims(1, 2);
  const limit = (x.shape[axis] ?? 1) - 1;
  const indices = draw.operand('int32', indexShape, { elements: integersBetween(0, limit) });
  return {
    options: ['gather', { axis, batchDims: 0 }],
    inputs: [x, draw.often(0.5) ? { ...indices, isConstant: true, isFree: false } : indices],
    outputs: [like(x, [...x.shape.slice(0, axis), ...indexShape, ...x.shape.slice(axis + 1)])],
  };
});

const gatherNd = moves(
  (draw, kind) => {
    const x = draw.operand(kind, draw.dims(1, 4));
    const depth = draw.int(1, x.shape.length);
    const rows = draw.dims(1, 2);
    const places = Array.from({ length: elementCount(rows) }, () =>
      x.shape.slice(0, depth).map((dim) => draw.int(0, dim - 1)),
    );
    return {
      inputs: [x, i32(places.flat(), [...rows, depth])],
      outputs: [like(x, [...rows, ...x.shape.slice(depth)])],
    };
  },
  ['float32', 'int32', 'int64', 'int8', 'uint8'],
);

const scatterNd = moves(
  (draw, kind) => {
    const shape = draw.dims(1, 3);
    const depth = draw.int(1, shape.length);
    const rows = draw.int(1, 6);
    const places = Array.from({ length: rows }, () =>
      shape.slice(0, depth).map((dim) => draw.int(0, dim - 1)),
    );
    const updates = draw.operand(kind, [rows, ...shape.slice(depth)]);
    const { quantization: _, ...plain } = updates;
    return {
      inputs: [i32(places.flat(), [rows, depth]), plain, i32(shape)],
      outputs: [{ dtype: plain.dtype, shape }],
    };
  },
  ['float32', 'int32', 'int64'],
);

const oneHot: LiteCases = moves(
  (draw, kind) => {
    const shape = draw.dims(1, 3);
    const depth = draw.int(1, 6);
    const axis = draw.int(0, shape.length);
    const indices = draw.operand('int32', shape, { elements: integersBetween(-1, depth) });
    const value = () => {
      const { quantization: _, ...plain } = draw.operand(kind, []);
      return { ...plain, isConstant: true, isFree: false };
    };
    const on = value();
    return {
      options: ['oneHot', { axis: axis === shape.length ? -1 : axis }],
      inputs: [indices, i32scalar(depth), on, value()],
      outputs: [{ dtype: on.dtype, shape: shape.toSpliced(axis, 0, depth) }],
    };
  },
  ['float32', 'int32', 'int64', 'bool'],
);

const fill = moves(
  (draw, kind) => {
    const shape = draw.dims(1, 4);
    const x = draw.operand(kind, []);
    return { inputs: [i32(shape), x], outputs: [like(x, shape)] };
  },
  ['float32', 'int32', 'int64', 'bool'],
);

const reverseSequence = moves(
  (draw, kind) => {
    const x = draw.operand(kind, draw.dims(2, 4));
    const [axis = 1, batchAxis = 0] = draw.shuffled(x.shape.map((_, at) => at));
    const limit = x.shape[axis] ?? 1;
    const lengths = draw.operand('int32', [x.shape[batchAxis] ?? 1], {
      elements: integersBetween(1, limit),
    });
    return {
      options: ['reverseSequence', { axis, batchAxis }],
      inputs: [x, lengths],
      outputs: [like(x, x.shape)],
    };
  },
  ['float32', 'int32', 'int64', 'uint8'],
);

const updateSlice = moves(
  (draw, kind) => {
    const x = draw.operand(kind, draw.dims(1, 4));
    const sizes = x.shape.map((dim) => draw.int(1, dim));
    const update = { ...draw.operand(kind, sizes), quantization: x.quantization };
    const starts = i32(x.shape.map((dim) => draw.int(-1, dim)));
    return {
      inputs: [x, update, draw.often(0.5) ? starts : { ...starts, isConstant: false }],
      outputs: [like(x, x.shape)],
    };
  },
  ['float32', 'int32', 'int64', 'int8', 'bool'],
);

const matrixDiag = moves((draw, kind) => {
  const x = draw.operand(kind, draw.dims(1, 3));
  return { inputs: [x], outputs: [like(x, [...x.shape, x.shape.at(-1) ?? 1])] };
}, FEW);

export const INDEXING: LiteCaseTable = {
  GATHER: gather,
  GATHER_ND: gatherNd,
  SCATTER_ND: scatterNd,
  ONE_HOT: oneHot,
  FILL: fill,
  REVERSE_SEQUENCE: reverseSequence,
  DYNAMIC_UPDATE_SLICE: updateSlice,
  MATRIX_DIAG: matrixDiag,
};
