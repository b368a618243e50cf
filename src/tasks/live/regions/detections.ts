import type { Point } from '../../../core/pictures/rectangle.ts';
import { internalError } from '../../../core/errors.ts';
import { type Box, overlap } from '../../results/boxes.ts';
import { pointIn, type Region } from './geometry.ts';

/** A thing that a detector found. */
export interface Detection {
  readonly box: Box;
  /** The points that the detector finds with it. */
  readonly points: readonly Point[];
  /** From 0 to 1. */
  readonly score: number;
}

/** How the places are laid out at which a single-shot detector looks. */
export interface AnchorGrid {
  /** Pixels of both sides of its picture. */
  readonly side: number;
  /** Pixels between places, and how many boxes each place has, in the order of the outputs. */
  readonly layers: readonly (readonly [stride: number, boxes: number])[];
}

/** The middles of the places of a grid, as shares of the picture: those of SSD, all of which have the size 1. */
export function anchorsOf({ side, layers }: AnchorGrid): Point[] {
  return layers.flatMap(([stride, boxes]) => {
    const count = Math.ceil(side / stride);
    return Array.from({ length: count * count * boxes }, (_, i): Point => {
      const cell = Math.floor(i / boxes);
      return [((cell % count) + 0.5) / count, (Math.floor(cell / count) + 0.5) / count];
    });
  });
}

/** What a detector gives: a row of numbers and a logit for each anchor. */
export interface RawDetections {
  /** [anchors, 4 + 2 · points]: middle, width and height of the box, then points; pixels of its picture from the anchor on. */
  readonly boxes: ArrayLike<number>;
  readonly logits: ArrayLike<number>;
}

interface DecodeOptions {
  readonly anchors: readonly Point[];
  readonly side: number;
  /** The least score. */
  readonly threshold: number;
}

/** Logits beyond make no difference. */
const MOST_LOGIT = 100;

/** The detections with a score of at least the threshold, in shares of the detector's picture. */
export function decodeDetections(
  { boxes, logits }: RawDetections,
  { anchors, side, threshold }: DecodeOptions,
): Detection[] {
  const row = boxes.length / anchors.length;
  return anchors.flatMap(([x, y], i) => {
    const logit = Math.min(Math.max(logits[i] ?? 0, -MOST_LOGIT), MOST_LOGIT);
    const score = 1 / (1 + Math.exp(-logit));
    if (score < threshold) return [];
    const at = (k: number): number => (boxes[i * row + k] ?? 0) / side;
    const points = Array.from({ length: (row - 4) / 2 }, (_, k): Point => {
      return [x + at(4 + 2 * k), y + at(5 + 2 * k)];
    });
    const [width, height] = [at(2), at(3)];
    const box = { left: x + at(0) - width / 2, top: y + at(1) - height / 2, width, height };
    return [{ box, points, score }];
  });
}

/**
 * Weighted non-maximum suppression, as BlazeFace describes it: detections that overlap the best one by more than `threshold` become one, the mean
 * by their scores. The best come first.
 */
export function mergeDetections(detections: readonly Detection[], threshold: number): Detection[] {
  let rest = detections.toSorted((a, b) => b.score - a.score);
  const merged: Detection[] = [];
  for (let best = rest[0]; best !== undefined; best = rest[0]) {
    const first = best;
    const same = rest.filter((one) => one === first || overlap(first.box, one.box) > threshold);
    rest = rest.filter((one) => !same.includes(one));
    merged.push({ ...meanOf(same), score: first.score });
  }
  return merged;
}

function meanOf(same: readonly Detection[]): Omit<Detection, 'score'> {
  const total = same.reduce((sum, { score }) => sum + score, 0);
  const mean = (of: (one: Detection) => number): number =>
    same.reduce((sum, one) => sum + of(one) * one.score, 0) / total;
  const [first] = same;
  if (first === undefined) throw internalError('a mean of nothing');
  const points = first.points.map((_, k): Point => {
    return [mean(({ points }) => points[k]?.[0] ?? 0), mean(({ points }) => points[k]?.[1] ?? 0)];
  });
  const [left, top] = [mean(({ box }) => box.left), mean(({ box }) => box.top)];
  const [width, height] = [mean(({ box }) => box.width), mean(({ box }) => box.height)];
  return { box: { left, top, width, height }, points };
}

/** A detection in shares of an upright region in pixels of the picture. */
export function placedDetection({ box, points, score }: Detection, region: Region): Detection {
  const [left, top] = pointIn(region, box.left, box.top);
  const [width, height] = [box.width * region.width, box.height * region.height];
  return {
    box: { left, top, width, height },
    points: points.map(([u, v]) => pointIn(region, u, v)),
    score,
  };
}
