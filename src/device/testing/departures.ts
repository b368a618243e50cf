/** Values that one input at a time gets: a single element, of zeros and subnormals some. */
export const SPECIAL_VALUES = [
  'NaN',
  'Infinity',
  '-Infinity',
  'zeros',
  'subnormal',
  'largest',
] as const;

export type SpecialValue = (typeof SPECIAL_VALUES)[number];

/**
 * How an element differs from the host's: a zero of the other sign; a number where that is NaN; NaN where it is
 * none; another number.
 */
export type Difference = 'sign of zero' | 'no NaN' | 'NaN' | 'number';

/** Special values of operators whose results may differ from the host's. */
export interface Departure {
  /** The first cell of the row of docs/numbers.md that gives the reason. */
  readonly row: string;
  readonly on: readonly ('wasm' | 'WebGPU')[];
  readonly operators: readonly string[];
  /** Absent: any. */
  readonly inputs?: readonly number[];
  /** Absent: any. */
  readonly values?: readonly SpecialValue[];
  readonly as: readonly Difference[];
}

/** Inputs that are tables which the compiler makes, such as of cosines: they hold no special values. */
export const TABLES: Readonly<Record<string, number>> = { dft: 1, resample: 1 };

const BOTH = ['wasm', 'WebGPU'] as const;
const INFINITIES = ['Infinity', '-Infinity'] as const;
const named = (words: string): readonly string[] => words.split(' ');
const ANY: readonly Difference[] = ['no NaN', 'NaN', 'number'];

const ROWS = {
  subnormals: 'numbers below 1.18e-38',
  windows: 'a NaN in a window of `max_pool`, `max_pool_indices`, `max_roi_pool` or `roi_align`',
  zeros: 'the sign of a zero',
  overflow: 'numbers whose squares, products or sums on the way exceed 3.4e38',
  products: 'an infinity in a long product (`reduce_prod`, `cumulative`)',
  padding: 'NaN or an infinity in the filter of a padded `conv2d` or `conv3d`',
  winograd: 'NaN, infinities or numbers above 1e37 in a `conv2d` by Winograd',
  places:
    'places that are NaN, infinite or huge: `grid_sample`, `roi_align`, `max_roi_pool`, `deform_conv`',
  scales:
    'infinities in `matmul_nbits`, `gather_matmul_nbits`, or the scales of `cached_attention`',
  hidden: 'NaN or an infinity in values that `cached_attention` hides from some queries',
  masked: 'scores that a finite mask moves far from 0, such as by -1000',
  singular: 'an infinity in a singular matrix of `det`',
} as const;

export const DEPARTURES: readonly Departure[] = [
  {
    row: ROWS.subnormals,
    on: ['WebGPU'],
    operators: ['log'],
    values: ['subnormal'],
    as: ['no NaN', 'number'],
  },
  {
    row: ROWS.windows,
    on: ['WebGPU'],
    operators: ['max_pool', 'max_pool_indices', 'max_roi_pool'],
    inputs: [0],
    values: ['NaN'],
    as: ['no NaN', 'number'],
  },
  {
    row: ROWS.windows,
    on: ['WebGPU'],
    operators: ['roi_align'],
    inputs: [0],
    // Infinity times a weight of 0 is NaN, too.
    values: ['NaN', ...INFINITIES],
    as: ['no NaN'],
  },
  {
    row: ROWS.zeros,
    on: ['WebGPU'],
    operators: named(
      'tanh tan sin atan asinh atanh clip mod det conv3d max_pool max_roi_pool roi_align ' +
        'layer_norm reduce_max reduce_min recurrent linear_attention',
    ),
    as: ['sign of zero'],
  },
  {
    row: ROWS.zeros,
    on: ['wasm'],
    operators: ['tan', 'sin', 'conv3d', 'conv_transpose', 'reduce_max', 'reduce_min'],
    as: ['sign of zero'],
  },
  {
    row: ROWS.overflow,
    on: BOTH,
    operators: named(
      'layer_norm rms_norm batch_norm gemm deform_conv recurrent ' +
        'scaled_dot_product_attention cached_attention reduce_prod cumulative matmul_nbits ' +
        'gather_matmul_nbits',
    ),
    values: ['largest'],
    as: ANY,
  },
  {
    row: ROWS.products,
    on: BOTH,
    operators: ['reduce_prod', 'cumulative'],
    values: INFINITIES,
    as: ['NaN'],
  },
  {
    row: ROWS.padding,
    on: BOTH,
    operators: ['conv2d', 'conv3d'],
    inputs: [1],
    values: ['NaN', ...INFINITIES],
    as: ['NaN'],
  },
  {
    row: ROWS.winograd,
    on: BOTH,
    operators: ['conv2d'],
    inputs: [0],
    values: ['NaN', ...INFINITIES],
    as: ['NaN'],
  },
  {
    row: ROWS.winograd,
    on: BOTH,
    operators: ['conv2d'],
    inputs: [0, 1],
    values: ['largest'],
    as: ['NaN', 'number'],
  },
  {
    row: ROWS.places,
    on: ['WebGPU'],
    operators: ['grid_sample', 'roi_align', 'max_roi_pool'],
    inputs: [1],
    values: ['NaN', ...INFINITIES, 'largest'],
    as: ANY,
  },
  {
    row: ROWS.places,
    on: ['WebGPU'],
    operators: ['deform_conv'],
    inputs: [2],
    values: ['NaN'],
    as: ['no NaN'],
  },
  {
    row: ROWS.scales,
    on: BOTH,
    operators: ['matmul_nbits', 'gather_matmul_nbits', 'cached_attention'],
    inputs: [0, 2, 3, 4],
    values: INFINITIES,
    as: ANY,
  },
  {
    row: ROWS.hidden,
    on: BOTH,
    operators: ['cached_attention'],
    inputs: [2, 5],
    values: ['NaN', ...INFINITIES],
    as: ['NaN'],
  },
  {
    row: ROWS.masked,
    on: BOTH,
    operators: ['scaled_dot_product_attention'],
    inputs: [0],
    values: ['zeros'],
    as: ['number'],
  },
  {
    row: ROWS.singular,
    on: ['WebGPU'],
    operators: ['det'],
    values: INFINITIES,
    as: ['NaN'],
  },
];

/** The departure that a difference is, if any. */
export function departureOf(cell: {
  readonly op: string;
  readonly on: 'wasm' | 'WebGPU';
  readonly input: number;
  readonly value: SpecialValue;
  readonly difference: Difference;
}): Departure | undefined {
  return DEPARTURES.find(
    ({ on, operators, inputs, values, as }) =>
      on.includes(cell.on) &&
      operators.includes(cell.op) &&
      (inputs?.includes(cell.input) ?? true) &&
      (values?.includes(cell.value) ?? true) &&
      as.includes(cell.difference),
  );
}
