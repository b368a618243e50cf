import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const cumulativeCases: OpCases = {
  summary:
    'The sum, or the product, of the elements along an axis up to each: without itself when ' +
    'exclusive, from the end when reverse. Integers wrap.',
  cases: () => [
    ...[false, true].flatMap((product) =>
      [false, true].flatMap((exclusive) =>
        [false, true].flatMap((reverse) => [
          cumulativeCase([5], { axis: 0, product, exclusive, reverse }),
          cumulativeCase([2, 300, 3], { axis: 1, product, exclusive, reverse }),
        ]),
      ),
    ),
    cumulativeCase([3, 64], { axis: -1 }),
    cumulativeCase([70, 65], { axis: 1 }),
    cumulativeCase([3, 0], { axis: 1 }),
    cumulativeCase([0, 3], { axis: 1 }),
    {
      title: 'a row of 70001',
      inputs: [{ dtype: 'int32', shape: [70_001], range: [-3, 4] as const }],
      attributes: { axis: 0 },
    },
    ...(['int32', 'uint32', 'int64'] as const).map((dtype) => ({
      title: `${dtype} products that wrap`,
      inputs: [{ dtype, shape: [2, 90], range: [1, 8] as const }],
      attributes: { axis: 1, product: true },
    })),
  ],
  badCases: () => [
    cumulativeCase([3, 5], { axis: 2 }),
    { title: 'a scalar', inputs: [{ dtype: 'float32', shape: [] }] },
    { title: 'bad dtype', inputs: [{ dtype: 'bool', shape: [3] }] },
  ],
};

function cumulativeCase(shape: Shape, attributes: NonNullable<OpCase['attributes']>): OpCase {
  return {
    title: `(${shape.join(', ')}) with ${JSON.stringify(attributes)}`,
    inputs: [{ dtype: 'float32', shape, range: [-1.5, 1.5] }],
    attributes,
  };
}
