import type { Tensor } from '../../client/values/tensor.ts';
import { ShapeError } from '../../core/errors.ts';
import { likeliest } from '../results/likeliest.ts';
import { numbersOf } from '../results/numbers.ts';
import { instanceMask } from './instance-mask.ts';
import {
  boxIn,
  type Candidate,
  type Candidates,
  type Corners,
  type DetectorOutputs,
  matrixOf,
  MOST_SHARE,
} from './output-matrix.ts';

const areShares = (boxes: ArrayLike<number>): boolean =>
  Array.prototype.every.call(boxes, (number: number) => number <= MOST_SHARE);

/**
 * `scores` with nothing first, unless there is one class only or there are as many names as numbers, and `boxes` as shares or in pixels
 * of the model's picture.
 */
export function readCorners(
  { outputs, place, threshold }: DetectorOutputs,
  labels: readonly string[] | undefined,
): Candidates {
  const { numbers, rows, columns } = matrixOf(outputs['scores'], 'scores');
  const { numbers: boxes } = matrixOf(outputs['boxes'], 'boxes', 4);
  const { width, height } = place.size;
  const [across, down] = areShares(boxes) ? [width, height] : [1, 1];
  const before = columns === 1 || labels?.length === columns ? 0 : 1;
  const candidates: Candidate[] = [];
  for (let row = 0; row < rows; row++) {
    const { index, score } = likeliest(
      numbers.subarray(row * columns + before, (row + 1) * columns),
    );
    if (score <= threshold) continue;
    const [left = 0, top = 0, right = 0, bottom = 0] = boxes.subarray(row * 4, row * 4 + 4);
    const corners = [left * across, top * down, right * across, bottom * down] as const;
    candidates.push({ index, score, box: boxIn(place, corners) });
  }
  return { candidates, classes: columns - before };
}

/**
 * Boxes, scores and classes of torchvision (left, top, right, bottom) or TensorFlow (top, left, bottom, right), in pixels of the model's
 * picture or as shares of it, with one dimension in front or none. Masks are those of Mask R-CNN in the model's picture.
 */
export function readSuppressed({ outputs, place, threshold }: DetectorOutputs): Candidates {
  const isOfTensorFlow = outputs['detection_boxes'] !== undefined;
  const names = isOfTensorFlow
    ? ['detection_boxes', 'detection_scores', 'detection_classes']
    : [outputs['boxes'] === undefined ? 'bboxes' : 'boxes', 'scores', 'labels'];
  const [boxes = [], scores = [], labels = []] = names.map((name) =>
    numbersOfOutput(outputs, name),
  );
  requireEqual(names, [boxes.length / 4, scores.length, labels.length]);
  const { width, height } = place.size;
  const [across, down] = areShares(boxes) ? [width, height] : [1, 1];
  const { masks } = outputs;
  const candidates: Candidate[] = [];
  for (const [thing, score] of scores.entries()) {
    if (score <= threshold) continue;
    const [a = 0, b = 0, c = 0, d = 0] = boxes.slice(thing * 4, thing * 4 + 4);
    const corners: Corners = isOfTensorFlow
      ? [b * across, a * down, d * across, c * down]
      : [a * across, b * down, c * across, d * down];
    const box = boxIn(place, corners);
    const mask = masks === undefined ? undefined : () => maskOf(masks, { thing, box, place });
    candidates.push({ index: labels[thing] ?? 0, score, box, mask });
  }
  return { candidates };
}

/** A mask from 0 to 1 over the model's picture. Throws ShapeError for other dimensions. */
function maskOf(
  masks: Tensor,
  {
    thing,
    box,
    place,
  }: Pick<Candidate, 'box'> & { thing: number; place: DetectorOutputs['place'] },
) {
  const [height = 0, width = 0] = masks.shape.slice(-2);
  const numbers = numbersOf(masks).subarray(thing * width * height, (thing + 1) * width * height);
  if (masks.shape.length >= 3 && numbers.length === width * height && numbers.length > 0) {
    return instanceMask({ numbers, width, height, level: 0.5, box, place });
  }
  throw new ShapeError({
    where: 'output masks',
    got: `[${masks.shape.join(', ')}]`,
    expected: '[things, 1, rows, columns]',
  });
}

function numbersOfOutput(outputs: DetectorOutputs['outputs'], name: string): number[] {
  const tensor = outputs[name];
  if (tensor !== undefined) return Array.from(numbersOf(tensor));
  throw new ShapeError({ where: `output ${name}`, got: 'none', expected: 'a tensor' });
}

function requireEqual(names: readonly string[], counts: readonly number[]): void {
  if (counts.every((count) => count === counts[0])) return;
  throw new ShapeError({
    where: `outputs ${names.join(', ')}`,
    got: `${counts.join(', ')} things`,
    expected: 'as many in each, for one picture',
  });
}
