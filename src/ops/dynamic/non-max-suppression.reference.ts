import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { boolAttribute } from '../attributes.ts';
import type { OpCase } from '../op-cases.ts';
import { float32Elements } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import type { DynamicReference } from '../op-reference.ts';

export const limits = (most: number, overlap: number, score: number): OpCase['inputs'] => [
  { dtype: 'int64', shape: [], values: [most] },
  { dtype: 'float32', shape: [], values: [overlap] },
  { dtype: 'float32', shape: [], values: [score] },
];

/** Bottom, left, top, right. */
type Corners = readonly [number, number, number, number];

export const nonMaxSuppressionReference: DynamicReference = {
  compute(inputs, attributes) {
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
  },
};

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
