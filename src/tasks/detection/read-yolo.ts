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
  cornersAround,
  MOST_SHARE,
} from './output-matrix.ts';
import { likeliest } from '../results/likeliest.ts';

/** An output for one picture. */
interface Matrix {
  readonly numbers: Float32Array | Float64Array;
  readonly rows: number;
  readonly columns: number;
}

/** A place of the output with its box, its likeliest class and the score of that. */
interface Place {
  readonly corners: Corners;
  readonly index: number;
  readonly score: number;
  /** The numbers behind those of its classes: coefficients of a mask, key points, an angle. */
  readonly others: readonly number[];
}

interface ReadPlaces {
  readonly threshold: number;
  /** How many numbers follow those of the classes. */
  readonly others: number;
  /** The size of the model's picture. */
  readonly whole: Size;
}

interface Places {
  readonly places: readonly Place[];
  readonly classes?: number;
}

/** Likelihoods of rounded numbers end a little beyond 0 and 1. */
const ROUNDING = 0.01;

/** Throws ShapeError for numbers that are no likelihoods: what is read as classes is something else then. */
function requireLikelihood(score: number): void {
  if (score >= -ROUNDING && score <= 1 + ROUNDING) return;
  throw new ShapeError({
    where: 'the result of the model',
    got: `${score.toPrecision(3)} where a place has the likelihoods of its classes`,
    expected: 'numbers from 0 to 1',
    remedy:
      'Say what the outputs mean with the option shape, such as yolo-pose for key points and yolo-obb for turned boxes; labels tell how many classes there are.',
  });
}

/** Places come first where there is one in each cell of the model's picture. */
function arePlacesFirst({ rows, columns }: Matrix, whole: Size): boolean {
  return rows === cellsOf(whole) && columns > BOX_NUMBERS + 1;
}

/** Numbers of a box, which come before those of the classes. */
const BOX_NUMBERS = 4;

/** (4 + classes + others, places), or with places first, where there is one in each cell. */
function readByClasses(matrix: Matrix, { threshold, others, whole }: ReadPlaces): Places {
  const { numbers, rows, columns } = matrix;
  const isFirst = arePlacesFirst(matrix, whole);
  const [count, width] = isFirst ? [rows, columns] : [columns, rows];
  const [placeStep, step] = isFirst ? [columns, 1] : [1, columns];
  const classes = width - BOX_NUMBERS - others;
  const scores = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
  const indices = new Uint32Array(count);
  let [least, most] = [0, 0];
  for (let index = 0; index < classes; index++) {
    for (let place = 0; place < count; place++) {
      const score = numbers[place * placeStep + (BOX_NUMBERS + index) * step] ?? 0;
      if (score < least) least = score;
      if (score > most) most = score;
      if (score <= (scores[place] ?? 0)) continue;
      scores[place] = score;
      indices[place] = index;
    }
  }
  requireLikelihood(least);
  requireLikelihood(most);
  const places: Place[] = [];
  const at = (place: number, k: number): number => numbers[place * placeStep + k * step] ?? 0;
  const [across, down] = unitOf(count, at, whole);
  for (const [place, score] of scores.entries()) {
    if (score <= threshold) continue;
    const [x, y, w, h] = [at(place, 0), at(place, 1), at(place, 2), at(place, 3)];
    places.push({
      corners: cornersAround(x * across, y * down, w * across, h * down),
      index: indices[place] ?? 0,
      score,
      others: Array.from({ length: others }, (_, i) => at(place, BOX_NUMBERS + classes + i)),
    });
  }
  return { places, classes };
}

/** Factors to pixels: numbers of boxes that are all small are shares of the picture. */
function unitOf(
  count: number,
  at: (place: number, k: number) => number,
  { width, height }: Size,
): readonly [across: number, down: number] {
  for (let place = 0; place < count; place++) {
    for (let k = 0; k < BOX_NUMBERS; k++) if (at(place, k) > MOST_SHARE) return [1, 1];
  }
  return [width, height];
}

/** A class is as sure as it is that there is anything, times how sure it is of the class. */
function readWithObjectness(matrix: Matrix, { threshold, others }: ReadPlaces): Places {
  const { numbers, rows, columns } = matrix;
  const end = columns - others;
  const places: Place[] = [];
  for (let row = 0; row < rows; row++) {
    const from = row * columns;
    const [x = 0, y = 0, w = 0, h = 0, something = 0] = numbers.subarray(from, from + 5);
    const found = likeliest(numbers.subarray(from + 5, from + end));
    requireLikelihood(something);
    requireLikelihood(found.score);
    const score = something * found.score;
    if (score <= threshold) continue;
    places.push({
      corners: cornersAround(x, y, w, h),
      index: found.index,
      score,
      others: Array.from(numbers.subarray(from + end, from + columns)),
    });
  }
  return { places, classes: end - 5 };
}

/** Pixels between the middles of cells. */
const STRIDES = [8, 16, 32] as const;

/** The cells of a picture: all of one stride row by row, then those of the next. */
function cellsOf({ width, height }: Size): number {
  return STRIDES.reduce(
    (sum, stride) => sum + Math.ceil(width / stride) * Math.ceil(height / stride),
    0,
  );
}

/**
 * YOLOX as it is exported: middles from the corner of their cell, in cells, and logarithms of sides in cells; or decoded, in pixels. Decoded
 * sides are above 0, logarithms of some are not.
 */
function readYolox(matrix: Matrix, options: ReadPlaces): Places {
  const { numbers, rows, columns } = matrix;
  const sides = Array.from({ length: rows }, (_, row) => numbers[row * columns + 2] ?? 0);
  if (sides.every((side) => side >= 0)) return readWithObjectness(matrix, options);
  if (rows !== cellsOf(options.whole)) {
    throw new ShapeError({
      where: 'the result of the model',
      got: `[1, ${rows}, ${columns}]`,
      expected: `${cellsOf(options.whole)} places, one in each cell of 8, 16 and 32 pixels`,
    });
  }
  const pixels = Float64Array.from(numbers);
  let row = 0;
  for (const stride of STRIDES) {
    const across = Math.ceil(options.whole.width / stride);
    const down = Math.ceil(options.whole.height / stride);
    for (let cell = 0; cell < across * down; cell++, row++) {
      const [x = 0, y = 0, w = 0, h = 0] = numbers.subarray(row * columns, row * columns + 4);
      const corner = [cell % across, Math.floor(cell / across)] as const;
      const decoded = [x + corner[0], y + corner[1], Math.exp(w), Math.exp(h)];
      pixels.set(
        decoded.map((number) => number * stride),
        row * columns,
      );
    }
  }
  return readWithObjectness({ numbers: pixels, rows, columns }, options);
}

/** Places without overlaps: corners, how sure, the class. */
function readSingle(matrix: Matrix, { threshold, others }: ReadPlaces): Places {
  const { numbers, rows, columns } = matrix;
  const places: Place[] = [];
  for (let row = 0; row < rows; row++) {
    const from = row * columns;
    const [left = 0, top = 0, right = 0, bottom = 0, score = 0, index = 0] = numbers.subarray(from);
    requireLikelihood(score);
    if (score <= threshold) continue;
    places.push({
      corners: [left, top, right, bottom],
      index,
      score,
      others: Array.from(numbers.subarray(from + columns - others, from + columns)),
    });
  }
  return { places };
}

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
