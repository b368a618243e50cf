import type { DType } from '../../../../src/core/tensor/dtype.ts';
import {
  counts,
  type Draw,
  type Elements,
  infinities,
  ints,
  positive,
  quarters,
  reals,
  scalar,
} from '../draw.ts';
import type { CaseGenerator, CaseTable, NodeCase } from '../node-case.ts';

interface ReduceOptions {
  readonly dtypes?: readonly DType[];
  readonly elements?: Elements;
  /** The version in which the axes became an input. */
  readonly axesInput?: number;
  readonly versions?: readonly number[];
}

function reduce(op: string, options: ReduceOptions = {}): CaseGenerator {
  return (draw) => {
    const {
      dtypes = ['float32', 'float32', 'float64', 'int32', 'int64'],
      elements = quarters,
      axesInput = 18,
      versions = [8, 11, 13, 18],
    } = options;
    const opset = draw.pick(versions);
    const dtype = draw.pick(dtypes);
    const shape = draw.shape({ to: 6 });
    const axes =
      draw.often(0.25) || shape.length === 0 ? undefined : reducedAxes(draw, shape, opset);
    const x = draw.tensor(dtype, shape, dtype.startsWith('float') ? elements : undefined);
    const keepdims = draw.maybe(() => draw.int(0, 1));
    if (opset < axesInput) {
      return { op, opset, inputs: [x], attributes: { axes, keepdims }, atol: 1e-4 };
    }
    return {
      op,
      opset,
      inputs: [x, axes === undefined ? draw.maybe(() => ints([])) : ints(axes)],
      parameters: [1],
      attributes: { keepdims, noop_with_empty_axes: draw.maybe(() => draw.int(0, 1)) },
      atol: 1e-4,
    };
  };
}

function reducedAxes(draw: Draw, shape: readonly number[], opset: number): number[] {
  const axes = draw.axes(shape.length);
  return opset < 11 ? axes.map((axis) => (axis + shape.length) % shape.length) : axes;
}

function argument(op: string): CaseGenerator {
  return (draw) => {
    const opset = draw.pick([8, 11, 12, 13]);
    const shape = draw.shape({ from: 1, zero: 0 });
    const axis = draw.axis(shape.length);
    return {
      op,
      opset,
      inputs: [
        draw.tensor(
          draw.pick(['float32', 'float32', 'int32', 'int64', 'float64', 'uint8', 'int8'] as const),
          shape,
        ),
      ],
      attributes: {
        axis: draw.maybe(() => (opset < 11 && axis < 0 ? axis + shape.length : axis)),
        keepdims: draw.maybe(() => draw.int(0, 1)),
        select_last_index: opset < 12 ? undefined : draw.maybe(() => draw.int(0, 1)),
      },
    };
  };
}

function cumulative(op: string, opset: readonly number[]): CaseGenerator {
  return (draw) => {
    const shape = draw.shape({ from: 1 });
    const axis = draw.axis(shape.length);
    return {
      op,
      opset: draw.pick(opset),
      inputs: [
        draw.tensor(draw.pick(['float32', 'float64', 'int32', 'int64'] as const), shape, counts),
        draw.often(0.5) ? scalar('int64', axis) : scalar('int32', axis),
      ],
      parameters: [1],
      attributes: {
        exclusive: draw.maybe(() => draw.int(0, 1)),
        reverse: draw.maybe(() => draw.int(0, 1)),
      },
    };
  };
}

function softmax(op: string): CaseGenerator {
  return (draw) => {
    const opset = draw.pick([1, 11, 13]);
    const shape = draw.shape({ from: 1 });
    const axis = draw.axis(shape.length);
    return {
      op,
      opset,
      inputs: [
        draw.tensor(
          draw.pick(['float32', 'float32', 'float64', 'float16'] as const),
          shape,
          draw.pick([reals, quarters, { number: (d) => d.real(-200, 200) }]),
        ),
      ],
      attributes: { axis: draw.maybe(() => (opset < 11 && axis < 0 ? axis + shape.length : axis)) },
    };
  };
}

function topK(draw: Draw): NodeCase {
  const opset = draw.pick([1, 10, 11, 24]);
  const shape = draw.shape({ from: 1, to: 4 });
  const axis = draw.axis(shape.length);
  const size = shape.at(axis) ?? 1;
  const k = draw.int(0, size);
  const x = draw.tensor(
    draw.pick(['float32', 'float32', 'float64', 'int64', 'int32'] as const),
    shape,
  );
  const positiveAxis = (axis + shape.length) % shape.length;
  if (opset === 1)
    return { op: 'TopK', opset, inputs: [x], attributes: { axis: positiveAxis, k }, outputs: 2 };
  return {
    op: 'TopK',
    opset,
    inputs: [x, ints([k])],
    parameters: [1],
    attributes: {
      axis: opset < 11 ? positiveAxis : axis,
      largest: opset < 11 ? undefined : draw.maybe(() => draw.int(0, 1)),
    },
    outputs: draw.pick([2, [true, false], [false, true]]),
  };
}

function lpNormalization(draw: Draw): NodeCase {
  const shape = draw.shape({ from: 1, to: 4 });
  return {
    op: 'LpNormalization',
    opset: draw.pick([1, 22]),
    inputs: [draw.tensor(draw.pick(['float32', 'float64'] as const), shape)],
    attributes: {
      axis: draw.maybe(() => draw.axis(shape.length)),
      p: draw.maybe(() => draw.int(1, 2)),
    },
  };
}

function globalPool(
  op: string,
  versions: readonly number[],
  attributes?: (draw: Draw) => NodeCase['attributes'],
): CaseGenerator {
  return (draw) => ({
    op,
    opset: draw.pick(versions),
    inputs: [draw.tensor('float32', draw.shape({ from: 3, to: 5, zero: 0 }))],
    attributes: attributes?.(draw) ?? {},
  });
}

export const REDUCTION_CASES: CaseTable = {
  ArgMax: argument('ArgMax'),
  ArgMin: argument('ArgMin'),
  CumProd: cumulative('CumProd', [26]),
  CumSum: cumulative('CumSum', [11, 14]),
  GlobalAveragePool: globalPool('GlobalAveragePool', [1, 22]),
  GlobalLpPool: globalPool('GlobalLpPool', [2, 22], (d) => ({ p: d.maybe(() => d.int(1, 4)) })),
  GlobalMaxPool: globalPool('GlobalMaxPool', [1, 22]),
  Hardmax: softmax('Hardmax'),
  LogSoftmax: softmax('LogSoftmax'),
  LpNormalization: lpNormalization,
  ReduceL1: reduce('ReduceL1', { dtypes: ['float32', 'int32'] }),
  ReduceL2: reduce('ReduceL2', { dtypes: ['float32'] }),
  ReduceLogSum: reduce('ReduceLogSum', { dtypes: ['float32'], elements: positive }),
  ReduceLogSumExp: reduce('ReduceLogSumExp', {
    dtypes: ['float32', 'float64'],
    elements: {
      number: (d) =>
        (d.often(0.1) ? infinities : { number: (e: Draw) => e.real(-200, 200) }).number(d),
    },
  }),
  ReduceMax: reduce('ReduceMax', {
    dtypes: ['float32', 'float64', 'int32', 'int64', 'uint8', 'int8', 'bool'],
    elements: infinities,
    versions: [8, 11, 12, 13, 18, 20],
  }),
  ReduceMean: reduce('ReduceMean', { dtypes: ['float32', 'float64', 'int32'] }),
  ReduceMin: reduce('ReduceMin', {
    dtypes: ['float32', 'float64', 'int32', 'int64', 'uint8', 'int8', 'bool'],
    elements: infinities,
    versions: [8, 11, 12, 13, 18, 20],
  }),
  ReduceProd: reduce('ReduceProd', {
    dtypes: ['float32', 'int32', 'int64'],
    elements: { number: (d) => d.real(0.7, 1.4) },
  }),
  ReduceSum: reduce('ReduceSum', { axesInput: 13, versions: [8, 11, 13] }),
  ReduceSumSquare: reduce('ReduceSumSquare', { dtypes: ['float32', 'float64', 'int32'] }),
  Softmax: softmax('Softmax'),
  TopK: topK,
};
