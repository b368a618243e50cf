import { stringAttribute } from '../attributes.ts';
import { operand } from '../operand-checks.ts';
import { MAX_DIMENSION } from '../../core/dims/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { numberElements } from '../elements.ts';
import type { DynamicReference } from '../op-reference.ts';

export const melWeightsReference: DynamicReference = {
  compute(inputs, attributes) {
    const [bins = 0, length = 0, rate = 0, lower = 0, upper = 0] = [0, 1, 2, 3, 4].map((i) =>
      Number(operand(inputs, i).data[0] ?? 0),
    );
    return melMatrix({ bins, length, rate, lower, upper }, stringAttribute(attributes, 'where'));
  },
};

export interface MelScale {
  readonly bins: number;
  /** Samples that are transformed. */
  readonly length: number;
  /** The sample rate in hertz, the unit of the edges too. */
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
