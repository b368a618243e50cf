import type { TypedArray } from '../../core/tensor/dtype.ts';
import { float16ToNumber, numberToFloat16 } from '../../core/tensor/float16.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../core/random.ts';

export const ROWS = 4;
export const WIDTH = 64;
export const AXES = 'axes=[1], keepdims=true';

/** A program of one row-wise function. */
export const program = (body: string): string =>
  `def @main(%x: Tensor[(${ROWS}, ${WIDTH}), float16]) { ${body} }`;

/** The function that a program computes of a row, in doubles. */
type Meaning = (row: readonly number[]) => number[];

export const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;
const squares = (values: readonly number[]): number[] => values.map((value) => value ** 2);

const layerNorm: Meaning = (row) => {
  const centered = row.map((value) => value - mean(row));
  return centered.map((value) => value / Math.sqrt(mean(squares(centered)) + 1e-3));
};

/** Programs in float16 whose values leave its range inside, with the size of inputs for which they do. */
export const PROGRAMS: readonly (readonly [name: string, body: string, scale: number, Meaning])[] =
  [
    [
      'layer norm',
      `let %d = sub(%x, reduce_mean(%x, ${AXES}));
     div(%d, sqrt(add(reduce_mean(pow(%d, 2f16), ${AXES}), 0.001f16)))`,
      900,
      layerNorm,
    ],
    [
      'layer norm by the mean of squares',
      `let %m = reduce_mean(%x, ${AXES});
     let %v = sub(reduce_mean(mul(%x, %x), ${AXES}), mul(%m, %m));
     div(sub(%x, %m), sqrt(add(%v, 0.001f16)))`,
      900,
      layerNorm,
    ],
    [
      'RMS norm, its root inverted',
      `mul(%x, div(1f16, sqrt(add(reduce_mean(mul(%x, %x), ${AXES}), 0.001f16))))`,
      3000,
      (row) => row.map((value) => value / Math.sqrt(mean(squares(row)) + 1e-3)),
    ],
    [
      'mean as a sum over the size',
      `div(sub(%x, div(reduce_sum(%x, ${AXES}), 64f16)), 16f16)`,
      30_000,
      (row) => row.map((value) => (value - mean(row)) / 16),
    ],
    [
      'norm of a sum of sums',
      `layer_norm(sub(add(%x, %x), mul(relu(%x), 0.25f16)), epsilon=0.001)`,
      50_000,
      (row) => layerNorm(row.map((value) => 2 * value - Math.max(value, 0) / 4)),
    ],
    [
      'softmax whose largest was not taken off',
      `let %e = exp(%x); div(%e, reduce_sum(%e, ${AXES}))`,
      40,
      (row) => row.map((value) => Math.exp(value) / sum(row.map(Math.exp))),
    ],
    [
      'logarithm of a sum of exponentials',
      `sub(%x, log(reduce_sum(exp(%x), ${AXES})))`,
      40,
      (row) => row.map((value) => value - Math.log(sum(row.map(Math.exp)))),
    ],
    [
      'unit vectors, in between reshaped',
      `let %n = sqrt(reduce_sum(pow(%x, 2f16), axes=[1]));
     div(%x, reshape(%n, shape=[${ROWS}, 1]))`,
      2000,
      (row) => row.map((value) => value / Math.sqrt(sum(squares(row)))),
    ],
  ];

/** Random rows of a magnitude, in float16. */
export function inputOf(scale: number): HostTensor {
  const random = seededRandom(3);
  const values = Array.from({ length: ROWS * WIDTH }, (_, i) =>
    // All are positive in the first row, so that sums are large.
    i < WIDTH ? scale * (0.5 + random() / 2) : scale * (2 * random() - 1),
  );
  return HostTensor.from('float16', [ROWS, WIDTH], values.map(numberToFloat16));
}

/** The values of float16 bits. */
export const numbersOf = ({ data }: { data: TypedArray }): number[] =>
  Array.from(data as ArrayLike<number>, float16ToNumber);

/** The expected results of all rows, one after the other. */
export function expectedOf(x: HostTensor, meaning: Meaning): number[] {
  const values = numbersOf(x);
  return Array.from({ length: ROWS }, (_, row) =>
    meaning(values.slice(row * WIDTH, (row + 1) * WIDTH)),
  ).flat();
}

/** Results are rounded to float16, and differences of operands before that. */
export const TOLERANCE = 2 ** -9;

/** The largest difference over the largest that is expected; infinite where a result is no number. */
export function relativeError(got: readonly number[], expected: readonly number[]): number {
  const largest = Math.max(...expected.map(Math.abs));
  const errors = expected.map((value, i) => {
    const error = Math.abs(value - (got[i] ?? Number.NaN)) / largest;
    return Number.isNaN(error) ? Number.POSITIVE_INFINITY : error;
  });
  return Math.max(...errors);
}
