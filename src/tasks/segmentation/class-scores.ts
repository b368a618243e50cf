import type { Tensor } from '../../client/values/tensor.ts';
import { ShapeError } from '../../core/errors.ts';
import type { Size } from '../pictures/picture-options.ts';
import { numbersOf } from '../results/numbers.ts';
import { type AxisSamples, cornerWeights } from './axis-samples.ts';

/** Numbers for each class at the places of a mask. */
export interface ClassScores extends Size {
  readonly numbers: Float32Array | Float64Array;
  readonly classes: number;
  /** Elements from one class to the next. */
  readonly classStep: number;
  /** Elements from one place to the next. */
  readonly placeStep: number;
}

/** Facts by which the dimension of the classes is found. */
interface ClassLayout {
  /** The size of the model's picture, of which a mask has the proportions. */
  readonly whole: Size;
  readonly labels: readonly string[] | undefined;
  /** True if pictures have channels last, which decides where nothing else does. */
  readonly isLast: boolean;
}

/**
 * Reads [1, classes, rows, columns], or with classes last: where there are names for so many, where only that has the proportions of the
 * picture, or where pictures have channels last. Throws ShapeError for other dimensions, and for a single class.
 */
export function classScores(output: Tensor, layout: ClassLayout): ClassScores {
  const [batch, ...dims] = output.shape;
  const isLast = areClassesLast(dims, layout);
  const [classes = 0, height = 0, width = 0] = isLast ? [dims[2], dims[0], dims[1]] : dims;
  if (output.shape.length !== 4 || batch !== 1 || classes < 2) {
    throw new ShapeError({
      where: 'the result of the model',
      got: `${output.dtype} [${output.shape.join(', ')}]`,
      expected: isLast ? '[1, rows, columns, classes]' : '[1, classes, rows, columns]',
      ...(classes === 1 ? { remedy: 'backgroundRemoval takes models of one mask.' } : {}),
    });
  }
  const steps = isLast
    ? { classStep: 1, placeStep: classes }
    : { classStep: width * height, placeStep: 1 };
  return { numbers: numbersOf(output), classes, width, height, ...steps };
}

function areClassesLast(
  [first = 0, second = 0, third = 0]: readonly number[],
  { whole, labels, isLast }: ClassLayout,
): boolean {
  const isNamed = labels !== undefined && (first === labels.length) !== (third === labels.length);
  if (isNamed) return third === labels.length;
  // Sides of a mask are rounded, so they are off by one at most.
  const hasProportions = (height: number, width: number): boolean =>
    Math.abs(width * whole.height - height * whole.width) <= Math.max(whole.width, whole.height);
  const [before, behind] = [hasProportions(second, third), hasProportions(first, second)];
  return before === behind ? isLast : behind;
}

/**
 * The class with the highest score at each pixel, of equal ones the first: scores are interpolated first, then compared. Where a class is
 * the highest at all four places around a pixel, it is so at the pixel, and nothing is computed.
 */
export function classifyPixels(
  scores: ClassScores,
  columns: AxisSamples,
  rows: AxisSamples,
): Uint16Array<ArrayBuffer> {
  const { width } = scores;
  const best = highest(scores);
  const classAt = interpolated(scores);
  const out = new Uint16Array(columns.shares.length * rows.shares.length);
  let at = 0;
  for (const [y, down] of rows.shares.entries()) {
    const top = (rows.before[y] ?? 0) * width;
    const bottom = (rows.after[y] ?? 0) * width;
    for (const [x, across] of columns.shares.entries()) {
      const left = columns.before[x] ?? 0;
      const right = columns.after[x] ?? 0;
      const first = best[top + left] ?? 0;
      const isSame =
        first === best[top + right] &&
        first === best[bottom + left] &&
        first === best[bottom + right];
      out[at++] = isSame
        ? first
        : classAt([top + left, top + right, bottom + left, bottom + right], across, down);
    }
  }
  return out;
}

function highest({ numbers, classes, width, height, classStep, placeStep }: ClassScores) {
  const best = new Uint16Array(width * height);
  for (let place = 0; place < best.length; place++) {
    let at = place * placeStep;
    let most = numbers[at] ?? 0;
    for (let index = 1; index < classes; index++) {
      at += classStep;
      const score = numbers[at] ?? 0;
      if (score <= most) continue;
      most = score;
      best[place] = index;
    }
  }
  return best;
}

type Corners = readonly [number, number, number, number];

/** The class with the highest score between four places, in float32 as the scores are. */
function interpolated({ numbers, classes, classStep, placeStep }: ClassScores) {
  return ([a, b, c, d]: Corners, across: number, down: number): number => {
    const [first, second, third, fourth] = cornerWeights(across, down);
    let best = 0;
    let most = Number.NEGATIVE_INFINITY;
    for (let index = 0; index < classes; index++) {
      const from = index * classStep;
      const score = Math.fround(
        first * (numbers[from + a * placeStep] ?? 0) +
          second * (numbers[from + b * placeStep] ?? 0) +
          third * (numbers[from + c * placeStep] ?? 0) +
          fourth * (numbers[from + d * placeStep] ?? 0),
      );
      if (score <= most) continue;
      most = score;
      best = index;
    }
    return best;
  };
}
