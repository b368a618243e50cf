import type { Tensor } from '../../client/values/tensor.ts';
import { ShapeError, UsageError } from '../../core/errors.ts';
import type { Point } from '../../core/pictures/rectangle.ts';
import type { PicturePlace } from '../pictures/picture-place.ts';
import type { Size } from '../pictures/picture-options.ts';
import type { Mask } from '../segmentation/segmentation.ts';
import type { DetectorShape } from './detector-shape.ts';
import { instanceMask, prototypesOf, sumOfPrototypes } from './instance-mask.ts';
import {
  boxIn,
  type Candidate,
  type Candidates,
  type Corners,
  type DetectorOutputs,
  type KeyPoint,
  matrixOf,
} from './output-matrix.ts';
import {
  arePlacesFirst,
  BOX_NUMBERS,
  cellsOf,
  type Matrix,
  type Place,
  type Places,
  readByClasses,
  type ReadPlaces,
  readSingle,
  readWithObjectness,
  readYolox,
} from './yolo-places.ts';

type YoloShape = Extract<DetectorShape, `yolo${string}`>;

/** YOLOs without overlaps give some hundred places, and others thousands. */
const MOST_PLACES_WITHOUT_OVERLAPS = 1000;
/** A key point is a place, and how sure the model is of it. */
const POINT_NUMBERS = 3;

const READERS: Readonly<Record<YoloShape, (matrix: Matrix, options: ReadPlaces) => Places>> = {
  yolo: readByClasses,
  'yolo-pose': readByClasses,
  'yolo-obb': readByClasses,
  'yolo-v5': readWithObjectness,
  yolox: readYolox,
  'yolo-v10': readSingle,
};

/**
 * Reads results as Ultralytics does. Which YOLO it is, sizes and the number of labels tell unless
 * the page does.
 */
export function readYolo(
  results: DetectorOutputs,
  labels: readonly string[] | undefined,
  wanted?: YoloShape,
): Candidates {
  const { outputs, place, threshold } = results;
  const named = Object.entries(outputs);
  const [name = 'output0', tensor] = named.find(([, { shape }]) => shape.length === 3) ?? [];
  const matrix = matrixOf(tensor, name);
  const masks = masksOf(
    named.map(([, output]) => output),
    results,
  );
  const { whole } = place;
  const known: Known = { coefficients: masks.count, whole, labels };
  const shape = wanted ?? shapeOf(matrix, known);
  const others = othersOf(shape, matrix, known);
  const { places, classes } = READERS[shape](matrix, { threshold, others, whole });
  const candidates = places.map((found): Candidate => {
    const { corners, index, score } = found;
    if (shape === 'yolo-obb') return { index, score, ...turnedBox(found, place) };
    const box = boxIn(place, corners);
    if (shape === 'yolo-pose') return { index, score, box, points: pointsOf(found, place) };
    return { index, score, box, mask: masks.maskOf?.(found.others, box) };
  });
  return classes === undefined ? { candidates } : { candidates, classes };
}

interface Known {
  readonly coefficients: number;
  readonly whole: Size;
  readonly labels: readonly string[] | undefined;
}

function shapeOf({ rows, columns }: Matrix, { coefficients, whole, labels }: Known): YoloShape {
  const most = 6 + coefficients;
  if (rows <= columns || columns < most) return 'yolo';
  const cells = cellsOf(whole);
  const isByAnchors = rows === 3 * cells;
  if (columns === most && rows <= MOST_PLACES_WITHOUT_OVERLAPS && rows !== cells && !isByAnchors) {
    return 'yolo-v10';
  }
  if (rows !== cells) return 'yolo-v5';
  // One place in a cell: YOLOX, or YOLO v8 with places first.
  const classes = columns - coefficients - BOX_NUMBERS;
  if (labels?.length === classes) return 'yolo';
  if (labels?.length === classes - 1) return 'yolox';
  throw new UsageError({
    where: 'the result of the model',
    got: `[1, ${rows}, ${columns}], which is YOLOX with ${classes - 1} classes or YOLO v8 with ${classes}`,
    expected: 'as many labels as classes, or the option shape',
    remedy: 'Give shape: yolox or shape: yolo.',
  });
}

/** How many numbers follow those of the classes of a place. Throws ShapeError for key points of two or four numbers. */
function othersOf(
  shape: YoloShape,
  matrix: Matrix,
  { coefficients, whole, labels }: Known,
): number {
  if (shape === 'yolo-obb') return 1;
  if (shape !== 'yolo-pose') return coefficients;
  const { rows, columns } = matrix;
  const classes = labels?.length ?? 1;
  const numbers = (arePlacesFirst(matrix, whole) ? columns : rows) - BOX_NUMBERS - classes;
  if (numbers > 0 && numbers % POINT_NUMBERS === 0) return numbers;
  throw new ShapeError({
    where: 'the result of the model',
    got: `[1, ${rows}, ${columns}]`,
    expected: `4 numbers of a box, ${classes} of classes and 3 of each key point`,
    remedy: 'Give as many labels as there are classes.',
  });
}

/** Masks are sums of prototypes, by the coefficients that end each place. */
function masksOf(tensors: readonly Tensor[], { place }: DetectorOutputs) {
  const tensor = tensors.find(({ shape }) => shape.length === 4);
  if (tensor === undefined) return { count: 0 };
  const prototypes = prototypesOf(tensor);
  const { width, height, count } = prototypes;
  const maskOf = (coefficients: readonly number[], box: Candidate['box']) => (): Mask => {
    const numbers = sumOfPrototypes(prototypes, coefficients);
    return instanceMask({ numbers, width, height, level: 0, box, place });
  };
  return { count, maskOf };
}

function pointsOf({ others }: Place, place: PicturePlace): KeyPoint[] {
  return Array.from({ length: others.length / POINT_NUMBERS }, (_, i) => {
    const [modelX = 0, modelY = 0, score = 0] = others.slice(i * POINT_NUMBERS);
    const [x, y] = place.toSource(modelX, modelY);
    return { x, y, score };
  });
}

/** A box that is turned around its middle by an angle, clockwise, and the upright one around it. */
function turnedBox({ corners, others }: Place, place: PicturePlace) {
  const [left, top, right, bottom] = corners;
  const [angle = 0] = others;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  const [w, h] = [(right - left) / 2, (bottom - top) / 2];
  const own = [
    [-w, -h],
    [w, -h],
    [w, h],
    [-w, h],
  ].map(([u = 0, v = 0]): Point => [x + u * cos - v * sin, y + u * sin + v * cos]);
  const xs = own.map(([cornerX]) => cornerX);
  const ys = own.map(([, cornerY]) => cornerY);
  const around: Corners = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
  const seen = own.map(([cornerX, cornerY]) => place.toSource(cornerX, cornerY));
  return { box: boxIn(place, around), corners: seen };
}
