import type { Attributes } from '../../core/primitive-function.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import {
  boolAttribute,
  dimsAttribute,
  floatAttribute,
  intsAttribute,
  stringAttribute,
} from '../attributes.ts';
import { type AttributeSpec, defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { numberElements } from '../elements.ts';
import type { Operands } from '../lowering.ts';
import {
  COORDINATE_MODES,
  type ResizedAxis,
  resizedPlaces,
  ROUNDING_MODES,
  roundPlace,
} from './resize-coordinates.ts';

const OFF: AttributeSpec = { type: 'bool', default: false };

/**
 * Where the elements along a resized axis come from. In double precision and on the host, where
 * sizes are known: a place that falls between two elements has to fall there on every device.
 */
export const resizeTable: OpDefinition = defineOp({
  name: 'resize_table',
  kind: 'opaque',
  host: 'the sizes of tensors are known on the host',
  summary:
    'For each element along an axis resized from sizes[0] to sizes[1]: the index of the nearest ' +
    'one, int32 (sizes[1]); or, to be interpolated, the index of the first of taps elements and ' +
    'their weights, float32 (sizes[1], 1 + taps). Index -1 stands for the extrapolation value, ' +
    'which is the first weight then. The scale is an input, else an attribute, where they are not 0, or ' +
    'the least (largest) of ratios, each of two dimensions.',
  inputs: [
    { name: 'scale', dtypes: ['float32'], optional: true },
    { name: 'roi', dtypes: ['float32'], optional: true },
  ],
  attributes: {
    sizes: { type: 'dims', length: 2 },
    taps: { type: 'dims', length: 1, minimum: 1, default: [1] },
    scale: { type: 'float', default: 0, minimum: 0 },
    ratios: { type: 'dims', default: [] },
    largest: OFF,
    roi: { type: 'floats', length: 2, default: [0, 1] },
    mode: { type: 'string', default: 'nearest', oneOf: ['nearest', 'linear', 'cubic'] },
    rounding: { type: 'string', default: 'round_prefer_floor', oneOf: ROUNDING_MODES },
    coordinates: { type: 'string', default: 'half_pixel', oneOf: COORDINATE_MODES },
    antialias: OFF,
    exclude_outside: OFF,
    cubic_coeff_a: { type: 'float', default: -0.75 },
    extrapolation: { type: 'float', default: 0 },
  },
  infer(_, attributes, dims) {
    const [from = dims.of(0), to = dims.of(0)] = dimsAttribute(attributes, 'sizes').map((dim) =>
      dims.of(dim),
    );
    dims.requireAtMost(dims.min(to, 1), from, () => ({
      where: 'resize_table: attribute sizes',
      got: 'an axis without elements',
      expected: 'elements to resize',
    }));
    if (stringAttribute(attributes, 'mode') === 'nearest') return { dtype: 'int32', shape: [to] };
    const [taps = 1] = dimsAttribute(attributes, 'taps');
    dims.requireAtMost(dims.of(1), taps, () => ({
      where: 'resize_table: attribute taps',
      got: 'no taps',
      expected: '1 or more',
    }));
    return { dtype: 'float32', shape: [to, dims.add(dims.of(1), taps)] };
  },
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
  tolerance: EXACT,
  cases: () => [
    ...COORDINATE_MODES.map((coordinates) => tableCase([5, 8], { coordinates })),
    ...ROUNDING_MODES.map((rounding) => tableCase([7, 4], { rounding, scale: 0.6 })),
    tableCase([4, 3], { mode: 'linear', taps: [2], coordinates: 'align_corners', ratios: [3, 4] }),
    tableCase([4, 9], { mode: 'cubic', taps: [4], exclude_outside: true, cubic_coeff_a: -0.5 }),
    tableCase([9, 4], { mode: 'linear', taps: [6], antialias: true }),
    tableCase([2, 3], { ratios: [3, 2, 5, 2], largest: true }),
    {
      ...tableCase([6, 6], {
        mode: 'linear',
        taps: [2],
        coordinates: 'tf_crop_and_resize',
        roi: [-0.5, 1.5],
        extrapolation: 10,
      }),
      title: 'beyond the borders',
    },
    {
      title: 'a given scale and part',
      inputs: [2, [0.25, 0.75]].map((values) => ({
        dtype: 'float32',
        shape: [[values].flat().length],
        values: [values].flat(),
      })),
      attributes: { sizes: [4, 8], coordinates: 'tf_crop_and_resize' },
    },
    tableCase([0, 0]),
  ],
  badCases: () => [
    tableCase([0, 3]),
    tableCase([3, 3], { mode: 'area' }),
    tableCase([3, 3], { coordinates: 'pixel' }),
    tableCase([3, 3], { mode: 'linear', taps: [0] }),
  ],
});

function tableCase(sizes: readonly number[], attributes: Attributes = {}): OpCase {
  return {
    title: `${sizes.join(' to ')} ${JSON.stringify(attributes)}`,
    inputs: [],
    attributes: { sizes, ...attributes },
  };
}

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
