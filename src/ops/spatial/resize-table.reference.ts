import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { boolAttribute, floatAttribute, intsAttribute, stringAttribute } from '../attributes.ts';
import { numberElements } from '../elements.ts';
import type { Operands } from '../lowering/lowering.ts';
import { type ResizedAxis, resizedPlaces, roundPlace } from './resize-coordinates.ts';
import type { StaticReference } from '../op-reference.ts';

export const resizeTableReference: StaticReference = {
  reference(inputs, attributes, output) {
    const axis = axisOf(inputs, attributes);
    const coordinates = stringAttribute(attributes, 'coordinates');
    const places = resizedPlaces(coordinates, axis);
    const last = axis.inSize - 1;
    const isOutside = (place: number) =>
      coordinates === 'tf_crop_and_resize' && (place < 0 || place > last);
    const table = numberElements(output);
    if (stringAttribute(attributes, 'mode') === 'nearest') {
      const rounding = stringAttribute(attributes, 'rounding');
      for (const [i, place] of places.entries()) {
        const index = Math.min(Math.max(roundPlace(rounding, place), 0), last);
        table[i] = isOutside(place) ? -1 : index;
      }
      return;
    }
    const width = output.shape[1] ?? 1;
    const filter = filterOf(attributes, axis);
    for (const [i, place] of places.entries()) {
      if (!isOutside(place)) {
        table.set(filterRow(place, { ...filter, width }), i * width);
        continue;
      }
      table.fill(0, i * width, (i + 1) * width);
      table[i * width] = -1;
      table[i * width + 1] = floatAttribute(attributes, 'extrapolation');
    }
  },
};

function axisOf(inputs: Operands<HostTensor>, attributes: Attributes): ResizedAxis {
  const [inSize = 0, outSize = 0] = intsAttribute(attributes, 'sizes');
  const [given, roi] = inputs.map((input) =>
    input === undefined ? undefined : numberElements(input),
  );
  const scale = given?.[0] || Math.fround(floatAttribute(attributes, 'scale'));
  const [begin = 0, end = 1] = roi ?? intsAttribute(attributes, 'roi').map(Math.fround);
  const [numerator, denominator] = scale === 0 ? ratioOf(attributes) : [scale, 1];
  return { inSize, outSize, numerator, denominator, roi: [begin, end] };
}

function ratioOf(attributes: Attributes): readonly [number, number] {
  const [inSize = 1, outSize = 1] = intsAttribute(attributes, 'sizes');
  const ratios = intsAttribute(attributes, 'ratios');
  const sign = boolAttribute(attributes, 'largest') ? -1 : 1;
  let best: readonly [number, number] =
    ratios.length === 0 ? [outSize, inSize] : [Infinity * sign, 1];
  for (let i = 0; i < ratios.length; i += 2) {
    const [numerator = 1, denominator = 1] = ratios.slice(i, i + 2);
    if (sign * (numerator / denominator) < sign * (best[0] / best[1]))
      best = [numerator, denominator];
  }
  return best;
}

interface Filter {
  /** The weight of an element at a distance. */
  readonly weight: (distance: number) => number;
  /** Elements beyond this distance have no weight. */
  readonly reach: number;
  readonly size: number;
  readonly excludesOutside: boolean;
  readonly isNormalized: boolean;
}

function filterOf(attributes: Attributes, { inSize, numerator, denominator }: ResizedAxis): Filter {
  const isAntialiased = boolAttribute(attributes, 'antialias');
  const stretch = isAntialiased ? Math.min(numerator / denominator, 1) : 1;
  const isCubic = stringAttribute(attributes, 'mode') === 'cubic';
  const a = Math.fround(floatAttribute(attributes, 'cubic_coeff_a'));
  const kernel = isCubic ? (x: number) => cubic(x, a) : (x: number) => Math.max(1 - x, 0);
  const excludesOutside = boolAttribute(attributes, 'exclude_outside');
  return {
    weight: (distance) => kernel(Math.abs(distance) * stretch),
    reach: (isCubic ? 2 : 1) / stretch,
    size: inSize,
    excludesOutside,
    isNormalized: isAntialiased || excludesOutside,
  };
}

/** R. Keys, "Cubic convolution interpolation for digital image processing" (1981). */
function cubic(x: number, a: number): number {
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/** The first index and the weights; those of elements outside count for the border. */
function filterRow(place: number, filter: Filter & { readonly width: number }): Float64Array {
  const { weight, reach, size, width } = filter;
  const weights = new Map<number, number>();
  let sum = 0;
  for (let i = Math.ceil(place - reach); i <= Math.floor(place + reach); i++) {
    const share = weight(i - place);
    const index = Math.min(Math.max(i, 0), size - 1);
    if (share === 0 || (filter.excludesOutside && index !== i)) continue;
    sum += share;
    weights.set(index, (weights.get(index) ?? 0) + share);
  }
  const first = Math.max(Math.min(...weights.keys(), size - (width - 1)), 0);
  const row = new Float64Array(width);
  row[0] = first;
  for (const [index, share] of weights) {
    const tap = index - first + 1;
    if (tap < width) row[tap] = filter.isNormalized ? share / sum : share;
  }
  return row;
}
