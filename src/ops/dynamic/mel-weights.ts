import { MAX_DIMENSION } from '../../core/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import { stringAttribute } from '../attributes.ts';
import type { OpDefinition } from '../define-op.ts';
import { defineDynamicOp } from './define-dynamic-op.ts';
import { INTEGERS } from './integers.ts';
import { numberElements } from '../elements.ts';
import { operand, present } from '../operand-checks.ts';

/** Triangles over a spectrum, at equal distances on the mel scale. */
export const melWeights: OpDefinition = defineDynamicOp({
  name: 'mel_weights',
  summary:
    'The matrix from the spectrum of a transform of dft_length to mel_bins bins between two ' +
    'frequencies: float32 (dft_length / 2 + 1, mel_bins).',
  inputs: [
    ...['mel_bins', 'dft_length', 'sample_rate'].map((name) => ({ name, dtypes: INTEGERS })),
    ...['lower', 'upper'].map((name) => ({ name, dtypes: ['float32'] as const })),
  ],
  attributes: { where: { type: 'string', default: 'mel_weights' } },
  infer(inputs, attributes, dims) {
    const where = stringAttribute(attributes, 'where');
    for (const { shape } of present(inputs)) {
      for (const dim of shape) {
        dims.requireEqual(dim, dims.of(1), () => ({
          where,
          got: 'several elements',
          expected: 'single elements',
        }));
      }
    }
    return { dtype: 'float32', shape: [dims.unknown(), dims.unknown()] };
  },
  compute(inputs, attributes) {
    const [bins = 0, length = 0, rate = 0, lower = 0, upper = 0] = [0, 1, 2, 3, 4].map((i) =>
      Number(operand(inputs, i).data[0] ?? 0),
    );
    return melMatrix({ bins, length, rate, lower, upper }, stringAttribute(attributes, 'where'));
  },
  cases: () => [
    melCase([8, 16, 8192, 0, 4096]),
    melCase([5, 33, 16000, 20, 7000]),
    { ...melCase([0, 0, 8, 0, 1]), title: 'none', attributes: { where: 'a node' } },
  ],
  badCases: () => [
    {
      title: 'two rates',
      inputs: [1, 1, 2].map((size) => ({ dtype: 'int64', shape: [size] })),
    },
    {
      title: 'two edges',
      inputs: [
        ...melCase([1, 1, 1]).inputs,
        ...[1, 2].map((size) => ({ dtype: 'float32' as const, shape: [size] })),
      ],
    },
  ],
});

function melCase(values: readonly number[]) {
  return {
    title: values.join(', '),
    inputs: values.map((value, i) => ({
      dtype: i < 3 ? ('int64' as const) : ('float32' as const),
      shape: [],
      values: [value],
    })),
  };
}

export interface MelScale {
  readonly bins: number;
  /** Of the transform. */
  readonly length: number;
  /** In hertz, as are the edges. */
  readonly rate: number;
  readonly lower: number;
  readonly upper: number;
}

/** D. O'Shaughnessy's mel scale, 2595 log10(1 + f / 700), rounded down to places of the spectrum. */
export function melMatrix(scale: MelScale, where: string): HostTensor {
  const { bins, length, rate, lower, upper } = scale;
  const rows = Math.floor(length / 2) + 1;
  if (!(bins >= 0 && length >= 0 && rate > 0 && bins * rows <= MAX_DIMENSION)) {
    throw new ShapeError({
      where,
      got: `${bins} mel bins of a transform of ${length} at ${rate} Hz`,
      expected: 'bins and a length from 0, a rate above 0',
    });
  }
  const mel = (hertz: number) => 2595 * Math.log10(1 + hertz / 700);
  const step = (mel(upper) - mel(lower)) / (bins + 2);
  const places = Array.from({ length: bins + 2 }, (_, i) => {
    const hertz = 700 * (10 ** ((i * step + mel(lower)) / 2595) - 1);
    return Math.floor(((length + 1) * hertz) / rate);
  });
  const matrix = HostTensor.zeros('float32', [rows, bins]);
  const weights = numberElements(matrix);
  for (let bin = 0; bin < bins; bin++) {
    const [low = 0, center = 0, high = 0] = places.slice(bin, bin + 3);
    // Slopes may begin and end outside of the spectrum.
    for (let row = Math.max(low, 0); row <= Math.min(center, rows - 1); row++) {
      weights[row * bins + bin] = center === low ? 1 : (row - low) / (center - low);
    }
    for (let row = Math.max(center, 0); row < Math.min(high, rows); row++) {
      weights[row * bins + bin] = (high - row) / (high - center);
    }
  }
  return matrix;
}
