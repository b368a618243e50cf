import { float16ToNumber } from '../../../src/core/tensor/float16.ts';
import type { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import type { OnnxAttribute } from '../../../src/testing/onnx-writer.ts';
import type { Verdict } from './compare-model.ts';
import type { NodeCase } from './node-case.ts';

type Unequal = Exclude<Verdict, { readonly kind: 'same' }>;

/** Where the other runtime does not do what the specification of ONNX says. */
interface Deviation {
  readonly op: RegExp;
  readonly reason: string;
  readonly applies: (node: NodeCase, verdict: Unequal) => boolean;
}

const isEmpty = ({ inputs }: NodeCase) => inputs.some((tensor) => tensor?.elementCount === 0);

const padsAlike = (attributes: NodeCase['attributes']) =>
  attributes?.auto_pad === 'SAME_UPPER' || attributes?.auto_pad === 'SAME_LOWER';

function floatOf(value: OnnxAttribute | undefined): number | undefined {
  return typeof value === 'object' && 'float' in value ? value.float : undefined;
}

function listOf(value: OnnxAttribute | undefined): readonly number[] {
  return Array.isArray(value) ? value.map(Number) : [];
}

const numbers = (tensor: HostTensor | undefined): readonly number[] => {
  if (tensor === undefined) return [];
  const isHalf = tensor.dtype === 'float16';
  const data: ArrayLike<number | bigint> = tensor.data;
  return Array.from(data, (x) => (isHalf ? float16ToNumber(Number(x)) : Number(x)));
};

/** The extents of a window with its gaps, and the steps between windows. */
function windowsOf({ inputs, attributes = {} }: NodeCase) {
  const given = listOf(attributes.kernel_shape);
  const kernel = given.length > 0 ? given : (inputs[1]?.shape.slice(2) ?? []);
  const dilations = listOf(attributes.dilations);
  const strides = listOf(attributes.strides);
  return kernel.map((size, i) => ({
    extent: (size - 1) * (dilations[i] ?? 1) + 1,
    stride: strides[i] ?? 1,
  }));
}

/**
 * Returns true if the windows of SAME end before the end of an axis, so that padding would be
 * negative.
 */
function isCropped(node: NodeCase): boolean {
  const [, , ...spatial] = node.inputs[0]?.shape ?? [];
  return windowsOf(node).some(({ extent, stride }, i) => {
    const size = spatial[i] ?? 1;
    return (Math.ceil(size / stride) - 1) * stride + extent < size;
  });
}

/** How many elements of an output differ. */
function differing({ reason }: Unequal): number {
  return Number(/(\d+) of \d+ elements differ/.exec(reason)?.[1] ?? Infinity);
}

/** At most how many elements of a cubic sample come from places beyond the border. */
function samplesBeyond({ inputs: [x, grid] }: NodeCase): number {
  const rank = grid?.shape.at(-1) ?? 1;
  const places = new Set<number>();
  for (const [i, place] of numbers(grid).entries()) {
    if (Math.abs(place) > 1) places.add(Math.floor(i / rank));
  }
  return places.size * (x?.shape[1] ?? 1);
}

/** An upper bound on the state of a cell whose candidates are at most 1. */
function largestCell({ inputs }: NodeCase): number {
  const [x] = inputs;
  return Math.max(0, ...numbers(inputs[6]).map(Math.abs)) + (x?.shape[0] ?? 0);
}

const DEVIATIONS: readonly Deviation[] = [
  {
    op: /^NonZero$/,
    reason: 'the specification gives a scalar indices of shape (0, N), the runtime (1, N)',
    applies: ({ inputs }) => inputs[0]?.shape.length === 0,
  },
  {
    op: /^Reduce/,
    reason: 'the runtime keeps the size of reduced axes of tensors without elements',
    applies: (node, { reason }) => isEmpty(node) && reason.includes('shape'),
  },
  {
    op: /^Gemm$/,
    reason: 'the runtime leaves beta out where the sum has no terms',
    applies: isEmpty,
  },
  {
    op: /^(Conv|.*Pool)$/,
    // The text of auto_pad: "Pad the input so that output_shape[i] = ceil(input_shape[i] / strides[i])".
    reason: 'the runtime crops the input where SAME needs no padding; pads are not negative',
    applies: (node) => padsAlike(node.attributes) && isCropped(node),
  },
  {
    op: /^ConvTranspose$/,
    reason:
      'SAME gives sizes times strides; the runtime does so only where kernels are as large as strides',
    applies: (node, { reason }) =>
      padsAlike(node.attributes) &&
      reason.includes('shape') &&
      windowsOf(node).some(({ extent, stride }) => extent < stride),
  },
  {
    op: /^Clip$/,
    // Clip-13's body of other operators has a Max, or a Min, only where the bound is given.
    reason: 'a bound that is left out is none; the runtime takes the largest finite number',
    applies: ({ opset, inputs: [x, min, max] }) =>
      opset >= 11 &&
      ((min === undefined && numbers(x).includes(-Infinity)) ||
        (max === undefined && numbers(x).includes(Infinity))),
  },
  {
    op: /^GridSample$/,
    // "padding_mode=border: use border values for out-of-bound grid locations".
    reason: 'the reference of ONNX moves places to the border before it takes cubic neighbours',
    applies: (node, verdict) =>
      node.attributes?.padding_mode === 'border' &&
      (node.attributes.mode === 'cubic' || node.attributes.mode === 'bicubic') &&
      differing(verdict) <= samplesBeyond(node),
  },
  {
    op: /^LSTM$/,
    // "Cell clip threshold. ... is applied to the input of activations", which the cell's state is.
    reason: 'clip applies to the input of activations; the runtime leaves out that of the cell',
    applies: (node) => (floatOf(node.attributes?.clip) ?? Infinity) < largestCell(node),
  },
  {
    op: /^Shrink$/,
    reason:
      'an unsigned number less a larger bias: Weft wraps, the runtime converts a negative float',
    applies: ({ inputs }, { reason }) =>
      inputs[0]?.dtype.startsWith('uint') === true && /got \d{3,}/.test(reason),
  },
  {
    op: /^Slice$/,
    reason: 'a backward slice ends behind an end of INT_MAX; the runtime takes it as INT_MIN',
    applies: ({ inputs }, { reason }) =>
      reason.includes('shape') &&
      Array.from(inputs[2]?.data ?? [], Number).some((end) => end >= 2 ** 31 - 1) &&
      Array.from(inputs[4]?.data ?? [], Number).some((step) => step < 0),
  },
  {
    op: /^Resize$/,
    reason: 'align_corners divides by the size before it is rounded, as the cases of ONNX do',
    applies: ({ attributes, inputs }) =>
      attributes?.coordinate_transformation_mode === 'align_corners' && inputs[3] === undefined,
  },
  {
    op: /^Resize$/,
    reason:
      'the runtime places batches and channels without the half pixel that tf_half_pixel_for_nn adds',
    applies: ({ attributes }) =>
      attributes?.coordinate_transformation_mode === 'tf_half_pixel_for_nn' &&
      attributes.mode !== 'nearest',
  },
  {
    op: /Window$/,
    reason: 'the definition of a symmetric window of one element divides 0 by 0; Weft takes 0',
    applies: ({ inputs, attributes }) =>
      attributes?.periodic === 0 && Number(inputs[0]?.data[0] ?? 0) === 1,
  },
  {
    op: /^AffineGrid$/,
    reason: 'aligned corners of an axis of one element are both ends: Weft takes the middle',
    applies: ({ inputs, attributes }) =>
      attributes?.align_corners === 1 && numbers(inputs[1]).slice(2).includes(1),
  },
  {
    op: /^QLinearAveragePool$/,
    reason:
      'what lies behind the padding is no padding; the runtime counts it where AveragePool does not',
    applies: ({ attributes }) => attributes?.ceil_mode === 1 && attributes.count_include_pad === 1,
  },
  {
    op: /^MaxUnpool$/,
    reason: 'the case of ONNX counts indices in the output before it is enlarged to output_shape',
    applies: ({ inputs }) => inputs[2] !== undefined,
  },
  {
    op: /^Sign$/,
    reason: 'the sign of NaN is NaN in every type; the runtime takes that of float16 as 0',
    applies: ({ inputs: [x] }, verdict) =>
      x?.dtype === 'float16' && differing(verdict) <= numbers(x).filter(Number.isNaN).length,
  },
  {
    op: /^Dropout$/,
    reason: 'nothing is dropped in inference, so that all of the mask is true',
    applies: ({ opset }, { reason }) => opset < 12 && reason.startsWith('output y0_1'),
  },
  {
    op: /^STFT$/,
    reason: 'the runtime does not transform complex signals as STFT is defined',
    applies: ({ inputs }) => inputs[0]?.shape[2] === 2,
  },
  {
    op: /^GroupQueryAttention$/,
    reason: 'what a cache holds behind the end of a sequence says nothing',
    applies: ({ inputs }, { reason }) =>
      /^output y\d+_[12]/.test(reason) && new Set(numbers(inputs[5])).size > 1,
  },
];

/** Why a verdict is not Weft's fault, or undefined. */
export function knownDeviation(node: NodeCase, verdict: Unequal): string | undefined {
  return DEVIATIONS.find(({ op, applies }) => op.test(node.op) && applies(node, verdict))?.reason;
}
