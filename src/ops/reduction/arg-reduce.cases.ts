import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';
import type { ArgReduceName, Extreme } from './arg-reduce.ts';

function argReduceCases(extreme: Extreme): OpCases {
  return {
    summary:
      `The place of the ${extreme === 'max' ? 'greatest' : 'least'} element along an axis, which ` +
      'the result keeps with size 1: the first of equal ones, or the last. NaN goes before all else.',
    cases: () => [
      argCase([5], 0),
      argCase([3, 5], 0),
      argCase([3, 5], -1, true),
      argCase([2, 70, 3], 1),
      argCase([2, 3, 300], 2),
      argCase([4, 1000], 1, true),
      argCase([0, 4], 1),
      argCase([3, 4099], 1),
      argCase([1, 5000, 2], 1, true),
      argCase([65, 63], 1),
      tieCase('the first of equal ones', false),
      tieCase('the last of equal ones', true),
      {
        title: 'equal ones in a long row',
        inputs: [{ dtype: 'int32', shape: [2, 200], range: [0, 3] }],
        attributes: { axis: 1 },
      },
      {
        title: 'the last of equal ones in a long row',
        inputs: [{ dtype: 'uint32', shape: [2, 200], range: [0, 3] }],
        attributes: { axis: 1, select_last: true },
      },
      {
        title: 'NaN and infinities',
        inputs: [
          {
            dtype: 'float32',
            shape: [2, 4],
            values: [1, Number.NaN, Infinity, Number.NaN, -1, Infinity, -Infinity, 3],
          },
        ],
        attributes: { axis: 1 },
      },
      {
        title: 'int64 beyond one word',
        inputs: [{ dtype: 'int64', shape: [4], values: [2 ** 40, -1, 2 ** 40 + 1, -(2 ** 50)] }],
      },
    ],
    badCases: () => [
      argCase([3, 5], 2),
      { title: 'no elements', inputs: [{ dtype: 'float32', shape: [0, 3] }] },
      { title: 'bad dtype', inputs: [{ dtype: 'bool', shape: [3] }] },
    ],
  };
}

function argCase(shape: Shape, axis: number, isLast = false): OpCase {
  return {
    title: `(${shape.join(', ')}) along ${axis}${isLast ? ', last' : ''}`,
    inputs: [{ dtype: 'float32', shape }],
    attributes: { axis, select_last: isLast },
  };
}

function tieCase(title: string, isLast: boolean): OpCase {
  return {
    title,
    inputs: [{ dtype: 'float32', shape: [2, 4], values: [1, 2, 2, 1, 3, 3, 3, 3] }],
    attributes: { axis: 1, select_last: isLast },
  };
}

export const ARG_REDUCE_CASES = {
  arg_max: argReduceCases('max'),
  arg_min: argReduceCases('min'),
} satisfies Record<ArgReduceName, OpCases>;
