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
    reason: 'the runtime crops the input where SAME needs no padding; pads are not negative',
    applies: ({ attributes }) => padsAlike(attributes),
  },
  {
    op: /^ConvTranspose$/,
    reason:
      'SAME gives sizes times strides; the runtime does so only where kernels are as large as strides',
    applies: ({ attributes }, { reason }) => padsAlike(attributes) && reason.includes('shape'),
  },
  {
    op: /^Clip$/,
    reason: 'a bound that is left out is no bound in the definition of Clip by other operators',
    applies: ({ opset, inputs }) => opset >= 11 && (!inputs[1] || !inputs[2]),
  },
  {
    op: /^GridSample$/,
    reason: 'the reference of ONNX moves places to the border before it takes cubic neighbours',
    applies: ({ attributes }) =>
      attributes?.padding_mode === 'border' &&
      (attributes.mode === 'cubic' || attributes.mode === 'bicubic'),
  },
  {
    op: /^LSTM$/,
    reason: 'clip applies to the input of activations; the runtime leaves out that of the cell',
    applies: ({ attributes }) => attributes?.clip !== undefined,
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
];

/** Why a verdict is not Weft's fault, or undefined. */
export function knownDeviation(node: NodeCase, verdict: Unequal): string | undefined {
  return DEVIATIONS.find(({ op, applies }) => op.test(node.op) && applies(node, verdict))?.reason;
}
