import { formatDim } from '../../core/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { boolAttribute } from '../attributes.ts';
import type { OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { float32Elements } from '../elements.ts';
import type { Operands } from '../lowering.ts';
import { operand, requireRank } from '../operand-checks.ts';
import { defineDynamicOp } from './define-dynamic-op.ts';

/** Boxes by score, but for those that overlap a better one of their class too much. */
export const nonMaxSuppression: OpDefinition = defineDynamicOp({
  name: 'non_max_suppression',
  summary:
    'For boxes (batch, n, 4) and scores (batch, classes, n) the chosen (batch, class, box) as int64 ' +
    '(?, 3): at most `most` a class by falling score above least_score, none whose intersection ' +
    'over union with one chosen before is above most_overlap.',
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
  compute: suppress,
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
});

const limits = (most: number, overlap: number, score: number): OpCase['inputs'] => [
  { dtype: 'int64', shape: [], values: [most] },
  { dtype: 'float32', shape: [], values: [overlap] },
  { dtype: 'float32', shape: [], values: [score] },
];

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

/** Bottom, left, top, right. */
type Corners = readonly [number, number, number, number];

function suppress(inputs: Operands<HostTensor>, attributes: Attributes): HostTensor {
  const [boxes, scores] = [operand(inputs, 0), operand(inputs, 1)];
  const [most = 0, mostOverlap = 0, leastScore = 0] = [2, 3, 4].map((index) =>
    Number(operand(inputs, index).elements[0] ?? 0),
  );
  const [batches = 0, classes = 0, count = 0] = scores.shape;
  const numbers = float32Elements(boxes);
  const isCentered = boolAttribute(attributes, 'centered');
  const corners = Array.from({ length: batches * count }, (_, i) =>
    cornersOf(numbers.subarray(i * 4, i * 4 + 4), isCentered),
  );
  const all = float32Elements(scores);
  const found: number[] = [];
  for (let row = 0; row < batches * classes; row++) {
    const batch = Math.floor(row / classes);
    const own = corners.slice(batch * count, (batch + 1) * count);
    const by = all.subarray(row * count, (row + 1) * count);
    for (const box of chosen(own, by, { most, mostOverlap, leastScore })) {
      found.push(batch, row % classes, box);
    }
  }
  return HostTensor.from('int64', [found.length / 3, 3], found);
}

interface Limits {
  readonly most: number;
  readonly mostOverlap: number;
  readonly leastScore: number;
}

function chosen(boxes: readonly Corners[], scores: Float32Array, limits: Limits): number[] {
  const candidates = [...boxes.keys()].filter((box) => (scores[box] ?? 0) > limits.leastScore);
  candidates.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
  const kept: number[] = [];
  for (const box of candidates) {
    if (kept.length >= limits.most) break;
    const overlaps = (other: number) => overlap(boxes[box], boxes[other]) > limits.mostOverlap;
    if (!kept.some(overlaps)) kept.push(box);
  }
  return kept;
}

function cornersOf(box: Float32Array, isCentered: boolean): Corners {
  const [a = 0, b = 0, c = 0, d = 0] = box;
  if (isCentered) return [b - d / 2, a - c / 2, b + d / 2, a + c / 2];
  return [Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d)];
}

/** Intersection over union, as float32; 0 where either has no area. */
function overlap(a: Corners = [0, 0, 0, 0], b: Corners = [0, 0, 0, 0]): number {
  const height = Math.min(a[2], b[2]) - Math.max(a[0], b[0]);
  const width = Math.min(a[3], b[3]) - Math.max(a[1], b[1]);
  if (height <= 0 || width <= 0) return 0;
  const area = ([bottom, left, top, right]: Corners) => (top - bottom) * (right - left);
  return Math.fround((height * width) / (area(a) + area(b) - height * width));
}
