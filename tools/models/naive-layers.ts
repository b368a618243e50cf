import { NaiveTensor, sum, tabulate } from './naive-tensor.ts';

interface ConvolutionOptions {
  readonly stride?: number;
  readonly groups?: number;
}

/** Image [C, H, W], weights [O, C / groups, K, K] with K odd, bias [O]; padding keeps the size at stride 1. */
export function convolution(
  image: NaiveTensor,
  [weights, bias]: readonly [NaiveTensor, NaiveTensor],
  { stride = 1, groups = 1 }: ConvolutionOptions = {},
): NaiveTensor {
  const [, height = 0, width = 0] = image.shape;
  const [outputs = 0, channels = 0, kernel = 0] = weights.shape;
  const pad = (kernel - 1) / 2;
  const size = [height, width].map((dim) => Math.floor((dim + 2 * pad - kernel) / stride) + 1);
  return tabulate([outputs, ...size], (output = 0, row = 0, column = 0) => {
    const first = Math.floor(output / (outputs / groups)) * channels;
    const products = (channel: number): number =>
      sum(kernel * kernel, (tap) => {
        const [i, j] = [Math.floor(tap / kernel), tap % kernel];
        const [y, x] = [row * stride + i - pad, column * stride + j - pad];
        if (y < 0 || y >= height || x < 0 || x >= width) return 0;
        return image.at(first + channel, y, x) * weights.at(output, channel, i, j);
      });
    return bias.at(output) + sum(channels, products);
  });
}

/** The largest of each square of an image [C, H, W]; what does not fill one is left out. */
export function maxPool(image: NaiveTensor, size: number): NaiveTensor {
  const [channels = 0, height = 0, width = 0] = image.shape;
  const shape = [channels, Math.floor(height / size), Math.floor(width / size)];
  return tabulate(shape, (channel = 0, row = 0, column = 0) => {
    const taps = Array.from({ length: size * size }, (_, tap) =>
      image.at(channel, row * size + Math.floor(tap / size), column * size + (tap % size)),
    );
    return Math.max(...taps);
  });
}

/** Rows [n, from] by a matrix [from, to]. */
export function product(rows: NaiveTensor, matrix: NaiveTensor): NaiveTensor {
  const [n = 0, from = 0] = rows.shape;
  return tabulate([n, matrix.shape[1] ?? 0], (row = 0, column = 0) =>
    sum(from, (k) => rows.at(row, k) * matrix.at(k, column)),
  );
}

/** Adds a row [m] to each row of [n, m], or a tensor of the same shape. */
export function plus(a: NaiveTensor, b: NaiveTensor): NaiveTensor {
  const count = b.values.length;
  return new NaiveTensor(
    a.shape,
    a.values.map((value, i) => value + (b.values[i % count] ?? 0)),
  );
}

/** Of each row of [n, m]. */
export function softmax(rows: NaiveTensor): NaiveTensor {
  const [n = 0, m = 0] = rows.shape;
  const largest = Array.from({ length: n }, (_, row) =>
    Math.max(...Array.from({ length: m }, (_, column) => rows.at(row, column))),
  );
  const power = (row: number, column: number): number =>
    Math.exp(rows.at(row, column) - (largest[row] ?? 0));
  const totals = largest.map((_, row) => sum(m, (column) => power(row, column)));
  return tabulate([n, m], (row = 0, column = 0) => power(row, column) / (totals[row] ?? 1));
}

/** Of each row of [n, m], with a scale and a bias [m]. */
export function layerNorm(
  rows: NaiveTensor,
  [scale, bias]: readonly [NaiveTensor, NaiveTensor],
  epsilon: number,
): NaiveTensor {
  const [n = 0, m = 0] = rows.shape;
  const moments = Array.from({ length: n }, (_, row) => {
    const mean = sum(m, (i) => rows.at(row, i)) / m;
    return { mean, variance: sum(m, (i) => (rows.at(row, i) - mean) ** 2) / m };
  });
  return tabulate([n, m], (row = 0, column = 0) => {
    const { mean = 0, variance = 0 } = moments[row] ?? {};
    const normal = (rows.at(row, column) - mean) / Math.sqrt(variance + epsilon);
    return normal * scale.at(column) + bias.at(column);
  });
}

export const relu = (x: NaiveTensor): NaiveTensor => x.map((value) => Math.max(value, 0));

export const sigmoid = (value: number): number => 1 / (1 + Math.exp(-value));
