import { ShapeError } from '../../core/errors.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import { dimsAttribute, intAttribute, stringAttribute } from '../attributes.ts';
import type { OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { operand } from '../operand-checks.ts';
import { defineDynamicOp } from './define-dynamic-op.ts';
import { INTEGERS, integersOf } from './integers.ts';

const NAMES = ['starts', 'ends', 'axes', 'steps'] as const;

/** Which positions of one axis ONNX Slice takes: the indices of a gather along it. */
export const sliceIndices: OpDefinition = defineDynamicOp({
  name: 'slice_indices',
  summary:
    'The positions that a slice takes of axis, for data of sizes dims; starts, ends, axes and steps ' +
    'as ONNX Slice has them.',
  inputs: NAMES.map((name) => ({ name, dtypes: INTEGERS })),
  attributes: {
    axis: { type: 'int', minimum: 0 },
    dims: { type: 'dims' },
    where: { type: 'string', default: 'slice_indices' },
  },
  infer(inputs, attributes, dims) {
    for (const [i, name] of NAMES.entries()) {
      if (operand(inputs, i).shape.length === 1) continue;
      throw new ShapeError({
        where: stringAttribute(attributes, 'where'),
        got: `${name} of rank ${operand(inputs, i).shape.length}`,
        expected: 'a list',
      });
    }
    const none = dims.of(0);
    const [[count = none] = [], ...others] = NAMES.map((_, i) => operand(inputs, i).shape);
    for (const [length = none] of others) {
      dims.requireEqual(length, count, () => ({
        where: stringAttribute(attributes, 'where'),
        got: 'lists of different lengths',
        expected: 'a start, an end, a step and an axis for each',
      }));
    }
    return { dtype: 'int64', shape: [dims.unknown()] };
  },
  compute(inputs, attributes) {
    const [starts = [], ends = [], axes = [], steps = []] = NAMES.map((_, i) =>
      integersOf(operand(inputs, i)),
    );
    const dims = dimsAttribute(attributes, 'dims').map(Number);
    const axis = intAttribute(attributes, 'axis');
    const where = stringAttribute(attributes, 'where');
    const wrong = axes.find((given) => given < -dims.length || given >= dims.length);
    if (wrong !== undefined || [ends, axes, steps].some(({ length }) => length !== starts.length)) {
      throw new ShapeError({
        where,
        got: wrong === undefined ? 'lists of different lengths' : `axis ${wrong}`,
        expected: `a start, an end, a step and an axis of ${dims.length} for each`,
      });
    }
    const at = axes.findIndex((given) => (given < 0 ? given + dims.length : given) === axis);
    const [start = 0, end = dims[axis] ?? 0, step = 1] = [starts[at], ends[at], steps[at]];
    if (step === 0) throw new ShapeError({ where, got: 'a step of 0', expected: 'another step' });
    const positions = positionsOf({ start, end, step }, dims[axis] ?? 0);
    return HostTensor.from('int64', [positions.length], positions);
  },
  cases: () => [
    indicesCase(0, [[1], [7], [0], [2]]),
    indicesCase(1, [[1], [7], [0], [2]]),
    indicesCase(1, [
      [-1, 5],
      [-100, 0],
      [-1, 0],
      [-2, -1],
    ]),
    indicesCase(0, [[20], [30], [0], [1]]),
    indicesCase(0, [[], [], [], []]),
    { ...indicesCase(0, [[0], [2], [0], [1]], 'int32'), title: 'int32' },
    {
      title: 'named',
      inputs: indicesCase(0, [[0], [2], [0], [1]]).inputs,
      attributes: { axis: 0, dims: [4], where: 'a node' },
    },
  ],
  badCases: () => [
    {
      title: 'scalars',
      inputs: NAMES.map(() => ({ dtype: 'int64', shape: [] })),
      attributes: { axis: 0, dims: [2] },
    },
    {
      title: 'lists of different lengths',
      inputs: [1, 2, 1, 1].map((length) => ({ dtype: 'int64', shape: [length] })),
      attributes: { axis: 0, dims: [2] },
    },
  ],
});

function indicesCase(
  axis: number,
  lists: readonly (readonly number[])[],
  dtype: 'int32' | 'int64' = 'int64',
): OpCase {
  return {
    title: `axis ${axis} ${JSON.stringify(lists)}`,
    inputs: lists.map((values) => ({ dtype, shape: [values.length], values })),
    attributes: { axis, dims: [9, 6] },
  };
}

interface Span {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

/** Negative positions count from the end; beyond an end the axis is cut. */
function positionsOf({ start, end, step }: Span, size: number): number[] {
  const clamp = (position: number, low: number, high: number): number =>
    Math.min(Math.max(position < 0 ? position + size : position, low), high);
  const isForward = step > 0;
  const from = isForward ? clamp(start, 0, size) : clamp(start, 0, size - 1);
  const to = isForward ? clamp(end, 0, size) : clamp(end, -1, size - 1);
  const count = size === 0 ? 0 : Math.max(0, Math.ceil((to - from) / step));
  return Array.from({ length: count }, (_, i) => from + i * step);
}
