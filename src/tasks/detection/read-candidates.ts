import type { Session } from '../../client/session.ts';
import { ShapeError, UsageError } from '../../core/errors.ts';
import type { Point } from '../../core/pictures/rectangle.ts';
import { overlap, suppress } from '../results/boxes.ts';
import { activate } from '../results/labels.ts';
import { type ClassScore, likeliestThing, likeliest } from '../results/likeliest.ts';
import type { DetectorShape } from './detector-shape.ts';
import {
  type Candidate,
  type Candidates,
  type DetectorOutputs,
  matrixOf,
  boxIn,
  cornersAround,
  type Corners,
  MOST_SHARE,
} from './output-matrix.ts';
import { readYolo } from './read-yolo.ts';
import type { Tensor } from '../../client/values/tensor.ts';
import { numbersOf } from '../results/numbers.ts';
import { instanceMask } from './instance-mask.ts';

const areShares = (boxes: ArrayLike<number>): boolean =>
  Array.prototype.every.call(boxes, (number: number) => number <= MOST_SHARE);

/**
 * `scores` with nothing first, unless there is one class only or there are as many names as numbers, and `boxes` as shares or in pixels
 * of the model's picture.
 */
function readCorners(
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
function readSuppressed({ outputs, place, threshold }: DetectorOutputs): Candidates {
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

/** Reads the outputs of one model. */
export type CandidateReader = (
  results: DetectorOutputs,
  labels: readonly string[] | undefined,
) => Candidates;

const yolo =
  (shape: Extract<DetectorShape, `yolo${string}`>): CandidateReader =>
  (results, labels) =>
    readYolo(results, labels, shape);

const READERS: Readonly<Record<DetectorShape, CandidateReader>> = {
  detr: readDetr,
  'rt-detr': readRtDetr,
  yolo: yolo('yolo'),
  'yolo-pose': yolo('yolo-pose'),
  'yolo-obb': yolo('yolo-obb'),
  'yolo-v5': yolo('yolo-v5'),
  yolox: yolo('yolox'),
  'yolo-v10': yolo('yolo-v10'),
  corners: readCorners,
  suppressed: readSuppressed,
};

/**
 * Reads as a page says, or as names, sizes and the number of labels tell. Throws ShapeError for outputs of another kind; so does the reader for
 * other dimensions.
 */
export function candidateReader(
  session: Session,
  shape: DetectorShape | undefined,
): CandidateReader {
  if (shape !== undefined) return READERS[shape];
  const family = familyOf(session);
  if (family === 'yolo') return (results, labels) => readYolo(results, labels);
  return family === 'detr' ? readEitherDetr : READERS[family];
}

/** Without a class for nothing there are as many numbers as names. Throws UsageError where there are no names. */
const readEitherDetr: CandidateReader = (results, labels) => {
  const { rows, columns } = matrixOf(results.outputs['logits'], 'logits');
  if (labels?.length === columns) return readRtDetr(results);
  if (labels !== undefined) return readDetr(results);
  throw new UsageError({
    where: 'the result of the model',
    got: `logits [1, ${rows}, ${columns}], which is DETR with ${columns - 1} classes and nothing or RT-DETR with ${columns} classes`,
    expected: 'labels, id2label in config.json or the option shape',
    remedy: 'Give shape: detr or shape: rt-detr.',
  });
};

/**
 * Keeps the surest of the things of one class that overlap by more than `threshold`: turned boxes
 * by their own corners.
 */
export function suppressCandidates(
  candidates: readonly Candidate[],
  threshold: number,
): readonly Candidate[] {
  return suppress(candidates, threshold, (a, b) =>
    a.corners && b.corners ? polygonOverlap(a.corners, b.corners) : overlap(a.box, b.box),
  );
}

/**
 * A kind of outputs that names and ranks tell. The kinds of DETR and of YOLO differ in sizes, which
 * only a run tells.
 */
type DetectorFamily = 'detr' | 'yolo' | 'corners' | 'suppressed';

/** Throws ShapeError for outputs of another kind. */
function familyOf(session: Session): DetectorFamily {
  const { outputs } = session;
  const has = (...names: readonly string[]): boolean =>
    names.every((name) => outputs.some((output) => output.name === name));
  if (has('logits', 'pred_boxes')) return 'detr';
  if (has('detection_boxes', 'detection_scores', 'detection_classes')) return 'suppressed';
  if (has('scores', 'labels') && (has('boxes') || has('bboxes'))) return 'suppressed';
  if (has('scores', 'boxes')) return 'corners';
  const ranks = outputs.map(({ shape }) => shape.length).toSorted((a, b) => a - b);
  if (ranks.join() === '3' || ranks.join() === '3,4') return 'yolo';
  const got = outputs.map(({ name, shape }) => `${name} [${shape.join(', ')}]`);
  throw new ShapeError({
    where: 'the model',
    got: `outputs ${got.join(', ')}`,
    expected:
      'logits and pred_boxes, scores and boxes, perhaps labels, or one of 3 dimensions, perhaps with prototypes of 4',
    remedy: 'Run the model with loadTaskModel and preparePictures, and read its outputs yourself.',
  });
}

/**
 * Reads results as `post_process_object_detection` of transformers does: of each query the
 * likeliest class, unless that is nothing.
 */
function readDetr(results: DetectorOutputs): Candidates {
  const { candidates, columns } = readQueries(results, (logits) => likeliestThing(logits) ?? []);
  return { candidates, classes: columns - 1 };
}

/** Reads results as that function of RT-DETR does: every class of every query for itself. */
function readRtDetr(results: DetectorOutputs): Candidates {
  const { candidates, columns } = readQueries(results, (logits) =>
    Array.from(activate(logits, 'sigmoid'), (score, index) => ({ index, score })),
  );
  return { candidates, classes: columns };
}

type ClassesOf = (logits: Float32Array | Float64Array) => ClassScore | readonly ClassScore[];

function readQueries({ outputs, place, threshold }: DetectorOutputs, classesOf: ClassesOf) {
  const { numbers, rows, columns } = matrixOf(outputs['logits'], 'logits');
  const { numbers: boxes } = matrixOf(outputs['pred_boxes'], 'pred_boxes', 4);
  const { width, height } = place.size;
  const candidates: Candidate[] = [];
  for (let row = 0; row < rows; row++) {
    const found = [classesOf(numbers.subarray(row * columns, (row + 1) * columns))].flat();
    for (const { index, score } of found) {
      if (score <= threshold) continue;
      const [x = 0, y = 0, w = 0, h = 0] = boxes.subarray(row * 4, row * 4 + 4);
      const corners = cornersAround(x * width, y * height, w * width, h * height);
      candidates.push({ index, score, box: boxIn(place, corners) });
    }
  }
  return { candidates, columns };
}

/**
 * The area that two convex polygons share, of the area that both cover together. Corners go around in the same direction. One is cut by
 * each edge of the other (Sutherland and Hodgman 1974).
 */
export function polygonOverlap(a: readonly Point[], b: readonly Point[]): number {
  const direction = Math.sign(areaOf(b));
  let shared = a;
  for (const [i, from] of b.entries()) {
    const to = b[(i + 1) % b.length] ?? from;
    shared = cutBy(shared, (point) => direction * sideOf(from, to, point));
  }
  const common = Math.abs(areaOf(shared));
  const all = Math.abs(areaOf(a)) + Math.abs(areaOf(b)) - common;
  return all > 0 ? common / all : 0;
}

/** Above 0 on one side of a line. */
function sideOf([fromX, fromY]: Point, [toX, toY]: Point, [x, y]: Point): number {
  return (toX - fromX) * (y - fromY) - (toY - fromY) * (x - fromX);
}

/** The part of a polygon where a linear function is not below 0. */
function cutBy(polygon: readonly Point[], depth: (point: Point) => number): Point[] {
  return polygon.flatMap((point, i) => {
    const next = polygon[(i + 1) % polygon.length] ?? point;
    const [here, there] = [depth(point), depth(next)];
    const own = here >= 0 ? [point] : [];
    if (here >= 0 === there >= 0) return own;
    const share = here / (here - there);
    const crossing: Point = [
      point[0] + (next[0] - point[0]) * share,
      point[1] + (next[1] - point[1]) * share,
    ];
    return [...own, crossing];
  });
}

/** The area of a polygon; its sign says in which direction the corners go around. */
function areaOf(polygon: readonly Point[]): number {
  const twice = polygon.reduce((sum, [x, y], i) => {
    const [nextX, nextY] = polygon[(i + 1) % polygon.length] ?? [x, y];
    return sum + x * nextY - y * nextX;
  }, 0);
  return twice / 2;
}
