import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const gemmCases: OpCases = {
  summary: 'alpha * op(a) op(b) + beta * c for matrices, where op transposes if asked.',
  cases: () => [
    gemmCase([1, 1], [1, 1]),
    gemmCase([3, 5], [5, 7]),
    gemmCase([3, 5], [5, 7], [7]),
    gemmCase([3, 5], [5, 7], [3, 1]),
    gemmCase([3, 5], [5, 7], [3, 7]),
    gemmCase([3, 5], [5, 7], [], { alpha: 0.5, beta: 2 }),
    gemmCase([5, 3], [5, 7], [1, 7], { trans_a: true }),
    gemmCase([3, 5], [7, 5], [7], { trans_b: true, alpha: -1 }),
    gemmCase([5, 3], [7, 5], [7], { trans_a: true, trans_b: true, beta: 0.25 }),
    gemmCase([0, 5], [5, 7], [7]),
    gemmCase([3, 0], [0, 7], [7]),
    gemmCase([1, 200], [100, 200], [100], { trans_b: true }),
    gemmCase([1, 512], [512, 64], [64]),
    gemmCase([67, 130], [130, 65], [65]),
    gemmCase([130, 67], [65, 130], [67, 65], { trans_a: true, trans_b: true }),
  ],
  badCases: () => [
    gemmCase([2, 3], [4, 5]),
    gemmCase([2], [2, 3]),
    gemmCase([2, 3], [3, 4], [3]),
    gemmCase([2, 3], [3, 4], [1, 2, 4]),
    gemmCase([2, 3], [3, 4], [4], { alpha: 'one' }),
  ],
};

function gemmCase(
  a: readonly number[],
  b: readonly number[],
  c?: readonly number[],
  ...[attributes = {}]: Attributes[]
): OpCase {
  const shapes = c === undefined ? [a, b] : [a, b, c];
  const more = Object.entries(attributes).map(
    ([name, value]) => `, ${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`,
  );
  return {
    title: shapes.map((shape) => `(${shape.join(', ')})`).join(' and ') + more.join(''),
    inputs: shapes.map((shape) => ({ dtype: 'float32', shape })),
    attributes,
  };
}
