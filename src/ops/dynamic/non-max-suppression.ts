import { formatDim } from '../../core/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import { operand, requireRank } from '../operand-checks.ts';
import { defineDynamicOp } from './define-dynamic-op.ts';

/** Boxes by score, but for those that overlap a better one of their class too much. */
export const nonMaxSuppression = defineDynamicOp({
  name: 'non_max_suppression',
  inputs: [
    { name: 'boxes', dtypes: ['float32'] },
    { name: 'scores', dtypes: ['float32'] },
    { name: 'most', dtypes: ['int64'] },
    { name: 'most_overlap', dtypes: ['float32'] },
    { name: 'least_score', dtypes: ['float32'] },
  ],
  attributes: { centered: { type: 'bool', default: false } },
  infer(inputs, _, dims) {
    const [boxes, scores] = [operand(inputs, 0), operand(inputs, 1)];
    requireRank(boxes, 3, 'non_max_suppression: input boxes');
    requireRank(scores, 3, 'non_max_suppression: input scores');
    for (const index of [2, 3, 4]) {
      if (operand(inputs, index).shape.length > 0) {
        throw new ShapeError({
          where: 'non_max_suppression',
          got: `input ${index} of rank ${operand(inputs, index).shape.length}`,
          expected: 'rank 0',
        });
      }
    }
    const complaint = () => ({
      where: 'non_max_suppression',
      got: `boxes (${boxes.shape.map(formatDim).join(', ')}) and scores (${scores.shape.map(formatDim).join(', ')})`,
      expected: '(batch, n, 4) and (batch, classes, n)',
    });
    const [batch = dims.of(0), count = dims.of(0), four = dims.of(0)] = boxes.shape;
    dims.requireEqual(four, dims.of(4), complaint);
    dims.requireEqual(scores.shape[0] ?? batch, batch, complaint);
    dims.requireEqual(scores.shape[2] ?? count, count, complaint);
    return { dtype: 'int64', shape: [dims.unknown(), dims.of(3)] };
  },
});
