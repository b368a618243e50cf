import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { OpCase, OpCases } from '../op-cases.ts';
import { limits } from './dynamic.reference.ts';

export const nonMaxSuppressionCases: OpCases = {
  summary:
    'For boxes (batch, n, 4) and scores (batch, classes, n) the chosen (batch, class, box) as int64 ' +
    '(?, 3): at most `most` a class by falling score above least_score, none whose intersection ' +
    'over union with one chosen before is above most_overlap.',
  cases: () => [
    suppressionCase('corners', {}),
    suppressionCase('centers', { centered: true }),
    {
      title: 'no boxes',
      inputs: [
        { dtype: 'float32', shape: [1, 0, 4] },
        { dtype: 'float32', shape: [1, 2, 0] },
        ...limits(3, 0.5, 0),
      ],
    },
  ],
  badCases: () => [
    {
      title: 'scores of other boxes',
      inputs: [
        { dtype: 'float32', shape: [1, 3, 4] },
        { dtype: 'float32', shape: [1, 2, 4] },
        ...limits(3, 0.5, 0),
      ],
    },
    {
      title: 'boxes of three numbers',
      inputs: [
        { dtype: 'float32', shape: [1, 3, 3] },
        { dtype: 'float32', shape: [1, 2, 3] },
        ...limits(3, 0.5, 0),
      ],
    },
  ],
};

function suppressionCase(title: string, attributes: Attributes): OpCase {
  const boxes = [0, 0, 1, 1, 0, 0.1, 1, 1.1, 1, 1, 0, 0, 0, 10, 1, 11, 5, 5, 5, 5, 0, 10, 1, 10.5];
  return {
    title,
    inputs: [
      { dtype: 'float32', shape: [1, 6, 4], values: boxes },
      {
        dtype: 'float32',
        shape: [1, 2, 6],
        values: [0.9, 0.75, 0.6, 0.95, 0.5, 0.3, 0.1, 0.2, 0.2, 0.4, 0.4, 0],
      },
      ...limits(3, 0.5, 0.15),
    ],
    attributes,
  };
}
