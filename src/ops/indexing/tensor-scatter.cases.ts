import type { DType } from '../../core/tensor/dtype.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const tensorScatterCases: OpCases = {
  summary:
    'x with updates written along an axis, in slice i of the first axis from begins[i] on. What ' +
    'goes beyond the end is dropped, or comes around when circular.',
  cases: () => [
    scatterCase([2, 4, 5], [2, 1, 5], [1, 2]),
    scatterCase([2, 4, 8], [2, 2, 8], [2, 0]),
    scatterCase([2, 4, 8], [2, 3, 8], [3, 1], { circular: true }),
    scatterCase([2, 4, 8], [2, 3, 8], [3, -1]),
    scatterCase([2, 3, 4, 5], [2, 3, 2, 5], [3, 7], { circular: true, dtype: 'int32' }),
    scatterCase([2, 3, 4], [2, 3, 2], [1, 2], { axis: -1 }),
    scatterCase([3, 4], [3, 2], [1, 2, 0], { axis: 1, dtype: 'bool' }),
    scatterCase([0, 4, 5], [0, 1, 5], []),
    scatterCase([2, 4, 5], [2, 0, 5], [1, 2], { circular: true }),
  ],
  badCases: () => [
    scatterCase([2, 4, 5], [2, 5, 5], [1, 2]),
    scatterCase([2, 4, 5], [2, 1, 5], [1]),
    scatterCase([2, 4], [2, 4], [1, 2], { axis: 0 }),
    scatterCase([2, 4, 5], [2, 1, 4], [1, 2]),
  ],
};

interface ScatterCaseOptions {
  readonly axis?: number;
  readonly circular?: boolean;
  readonly dtype?: DType;
}

function scatterCase(
  shape: Shape,
  updates: Shape,
  begins: readonly number[],
  ...[options = {}]: ScatterCaseOptions[]
): OpCase {
  const { axis = -2, circular = false, dtype = 'float32' } = options;
  const mode = circular ? 'circular' : 'linear';
  return {
    title: `${mode} ${dtype} (${updates.join(', ')}) into (${shape.join(', ')}) at [${begins.join(', ')}] of axis ${axis}`,
    inputs: [
      { dtype, shape },
      { dtype, shape: updates },
      { dtype: 'int64', shape: [begins.length], values: begins },
    ],
    attributes: { axis, circular },
  };
}
