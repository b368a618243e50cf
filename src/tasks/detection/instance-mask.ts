import type { Tensor } from '../../client/values/tensor.ts';
import { ShapeError } from '../../core/errors.ts';
import type { PicturePlace } from '../pictures/picture-place.ts';
import type { Size } from '../pictures/picture-options.ts';
import type { Box } from '../results/boxes.ts';
import { numbersOf } from '../results/numbers.ts';
import type { Mask } from '../segmentation/segmentation.ts';
import { cornerWeights } from '../segmentation/axis-samples.ts';
import { samplesOf } from '../segmentation/whole-pictures.ts';

/** Patterns of which the masks of a picture are sums, (1, count, rows, columns). */
interface Prototypes extends Size {
  readonly count: number;
  readonly numbers: Float32Array | Float64Array;
}

/** Throws ShapeError for other dimensions. */
export function prototypesOf(tensor: Tensor): Prototypes {
  const [batch, count = 0, height = 0, width = 0] = tensor.shape;
  if (tensor.shape.length === 4 && batch === 1) {
    return { count, height, width, numbers: numbersOf(tensor) };
  }
  throw new ShapeError({
    where: 'prototypes of masks',
    got: `[${tensor.shape.join(', ')}]`,
    expected: '[1, coefficients, rows, columns]',
  });
}

/** A thing's mask before it is cut: the pixels of a box whose number is above a level. */
interface MaskParts extends Size {
  /** Numbers over the model's picture, rows from the top. */
  readonly numbers: ArrayLike<number>;
  /** A pixel whose number is above it belongs to the thing. */
  readonly level: number;
  /** Pixels outside of it belong to nothing. */
  readonly box: Box;
  readonly place: PicturePlace;
}

/** The sum of the prototypes, each times its coefficient. */
export function sumOfPrototypes(
  { numbers, count, width, height }: Prototypes,
  coefficients: ArrayLike<number>,
): Float32Array {
  const sum = new Float32Array(width * height);
  for (let index = 0; index < count; index++) {
    const coefficient = coefficients[index] ?? 0;
    const from = index * sum.length;
    for (let i = 0; i < sum.length; i++) {
      sum[i] = (sum[i] ?? 0) + coefficient * (numbers[from + i] ?? 0);
    }
  }
  return sum;
}

/**
 * The mask of a thing in the size of the picture: numbers are interpolated first, then compared, and what lies outside of the box is cut off,
 * as `process_mask_native` of Ultralytics has it.
 */
export function instanceMask({ numbers, width, height, level, box, place }: MaskParts): Mask {
  const { columns, rows } = samplesOf(place, { width, height });
  const { source } = place;
  const data = new Uint8Array(source.width * source.height);
  const at = (row: number, column: number): number => numbers[row * width + column] ?? 0;
  const lastRow = Math.min(Math.ceil(box.top + box.height), source.height);
  const lastColumn = Math.min(Math.ceil(box.left + box.width), source.width);
  for (let y = Math.ceil(box.top); y < lastRow; y++) {
    const [top, bottom, down] = [rows.before[y] ?? 0, rows.after[y] ?? 0, rows.shares[y] ?? 0];
    for (let x = Math.ceil(box.left); x < lastColumn; x++) {
      const [left, right] = [columns.before[x] ?? 0, columns.after[x] ?? 0];
      const [first, second, third, fourth] = cornerWeights(columns.shares[x] ?? 0, down);
      const number =
        first * at(top, left) +
        second * at(top, right) +
        third * at(bottom, left) +
        fourth * at(bottom, right);
      if (number > level) data[y * source.width + x] = 255;
    }
  }
  return { width: source.width, height: source.height, data };
}
