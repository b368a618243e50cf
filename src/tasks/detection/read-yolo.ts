import type { Tensor } from '../../client/tensor.ts';
import { likeliest } from '../results/likeliest.ts';
import type { Mask } from '../segmentation/segmentation.ts';
import type { DetectorShape } from './detector-shape.ts';
import { instanceMask, prototypesOf, sumOfPrototypes } from './instance-mask.ts';
import {
  boxIn,
  type Candidate,
  type Candidates,
  type Corners,
  cornersAround,
  type DetectorOutputs,
  matrixOf,
} from './output-matrix.ts';

type YoloShape = Extract<DetectorShape, `yolo${string}`>;

/** YOLOs without overlaps give some hundred places, and others thousands. */
const MOST_PLACES_WITHOUT_OVERLAPS = 1000;
/** Numbers of a place before its classes, or in all of `yolo-v10`. */
const BOX_NUMBERS = { yolo: 4, 'yolo-v5': 5, 'yolo-v10': 6 } as const;

interface Place {
  readonly corners: Corners;
  readonly index: number;
  readonly score: number;
  /** Where the coefficients of its mask begin, and how far they are apart. */
  readonly from: number;
  readonly step: number;
}

/** As Ultralytics has it. Which YOLO it is, sizes tell unless the page does. */
export function readYolo(results: DetectorOutputs, wanted?: YoloShape): Candidates {
  const { outputs, place, threshold } = results;
  const named = Object.entries(outputs);
  const [name = 'output0', tensor] = named.find(([, { shape }]) => shape.length === 3) ?? [];
  const matrix = matrixOf(tensor, name);
  const masks = masksOf(
    named.map(([, output]) => output),
    results,
  );
  const shape = wanted ?? shapeOf(matrix, masks.count);
  const { places, classes } = READERS[shape](matrix, { threshold, coefficients: masks.count });
  const candidates = places.map(({ corners, index, score, from, step }): Candidate => {
    const box = boxIn(place, corners);
    const coefficients = Array.from(
      { length: masks.count },
      (_, i) => matrix.numbers[from + i * step] ?? 0,
    );
    return { index, score, box, mask: masks.maskOf?.(coefficients, box) };
  });
  return classes === undefined ? { candidates } : { candidates, classes };
}

type Matrix = ReturnType<typeof matrixOf>;

function shapeOf({ rows, columns }: Matrix, coefficients: number): YoloShape {
  const most = BOX_NUMBERS['yolo-v10'] + coefficients;
  if (rows <= columns || columns < most) return 'yolo';
  return columns === most && rows <= MOST_PLACES_WITHOUT_OVERLAPS ? 'yolo-v10' : 'yolo-v5';
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

interface ReadOptions {
  readonly threshold: number;
  /** How many of them end each place. */
  readonly coefficients: number;
}
type Reader = (
  matrix: Matrix,
  options: ReadOptions,
) => { readonly places: readonly Place[]; readonly classes?: number };

/** Numbers of one place lie `columns` apart. */
const readColumns: Reader = ({ numbers, rows, columns }, { threshold, coefficients }) => {
  const classes = rows - BOX_NUMBERS.yolo - coefficients;
  const scores = new Float64Array(columns).fill(Number.NEGATIVE_INFINITY);
  const indices = new Uint32Array(columns);
  for (let index = 0; index < classes; index++) {
    const from = (BOX_NUMBERS.yolo + index) * columns;
    for (let column = 0; column < columns; column++) {
      const score = numbers[from + column] ?? 0;
      if (score <= (scores[column] ?? 0)) continue;
      scores[column] = score;
      indices[column] = index;
    }
  }
  const places: Place[] = [];
  for (const [column, score] of scores.entries()) {
    if (score <= threshold) continue;
    const at = (row: number): number => numbers[row * columns + column] ?? 0;
    places.push({
      corners: cornersAround(at(0), at(1), at(2), at(3)),
      index: indices[column] ?? 0,
      score,
      from: (rows - coefficients) * columns + column,
      step: columns,
    });
  }
  return { places, classes };
};

/** A class is as sure as it is that there is anything, times how sure it is of the class. */
const readWithObjectness: Reader = ({ numbers, rows, columns }, { threshold, coefficients }) => {
  const end = columns - coefficients;
  const places: Place[] = [];
  for (let row = 0; row < rows; row++) {
    const [x = 0, y = 0, w = 0, h = 0, something = 0, ...others] = numbers.subarray(
      row * columns,
      row * columns + end,
    );
    const found = likeliest(others);
    const score = something * found.score;
    if (score <= threshold) continue;
    const corners = cornersAround(x, y, w, h);
    places.push({ corners, index: found.index, score, from: row * columns + end, step: 1 });
  }
  return { places, classes: end - BOX_NUMBERS['yolo-v5'] };
};

const readSingle: Reader = ({ numbers, rows, columns }, { threshold, coefficients }) => {
  const places: Place[] = [];
  for (let row = 0; row < rows; row++) {
    const at = row * columns;
    const [left = 0, top = 0, right = 0, bottom = 0, score = 0, index = 0] = numbers.subarray(at);
    if (score <= threshold) continue;
    const from = at + columns - coefficients;
    places.push({ corners: [left, top, right, bottom], index, score, from, step: 1 });
  }
  return { places };
};

const READERS: Readonly<Record<YoloShape, Reader>> = {
  yolo: readColumns,
  'yolo-v5': readWithObjectness,
  'yolo-v10': readSingle,
};
