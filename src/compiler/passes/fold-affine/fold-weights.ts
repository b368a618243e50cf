import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { numberElements } from '../../../ops/elements.ts';
import { type Affine, at, type Coefficients, combine, roundedTensor } from './affine.ts';
import type { WeightedProduct } from './weighted-product.ts';

/** Of a product: x * input.scale + input.shift goes in, the result * result.scale + result.shift. */
interface FoldedAffines {
  readonly input: Affine;
  readonly result: Affine;
  /**
   * True if there is a shift to add to the result, for which a product without a bias needs one.
   */
  readonly hasShift: boolean;
}

/** The operands of the product afterwards; the bias is undefined where nothing is to be added. */
export interface FoldedWeights {
  readonly weights: HostTensor;
  readonly bias: HostTensor | undefined;
}

/** The smallest normal numbers: below them rounding is no longer relative. */
const SMALLEST_NORMAL = { float16: 2 ** -14, float32: 2 ** -126 } as const;

/**
 * The weights and bias that do the same, computed in double precision and rounded once. Undefined
 * where a number is too large for the dtype, or all those of a channel too small.
 */
export function foldWeights(
  product: WeightedProduct,
  affines: FoldedAffines,
): FoldedWeights | undefined {
  const weights = scaleWeights(product, affines);
  if (weights === undefined) return undefined;
  if (product.bias === undefined && !affines.hasShift) return { weights, bias: undefined };
  const bias = foldBias(product, affines);
  return bias && { weights, bias };
}

function scaleWeights(
  { weights, layout }: WeightedProduct,
  { input, result }: FoldedAffines,
): HostTensor | undefined {
  const { dtype, shape } = weights;
  if (dtype !== 'float16' && dtype !== 'float32') return undefined;
  if (result.scale === 1 && input.scale === 1) return weights;
  const isUniform = typeof input.scale === 'number' && typeof result.scale === 'number';
  if (weights.isSplat && isUniform) {
    const [element = 0] = numberElements(new HostTensor(dtype, [], weights.elements));
    const value = element * at(input.scale, 0) * at(result.scale, 0);
    const isTooSmall = value !== 0 && Math.abs(value) < SMALLEST_NORMAL[dtype];
    return isTooSmall ? undefined : roundedTensor(dtype, shape, value);
  }
  const elements = numberElements(weights);
  const scaled = new Float64Array(elements.length);
  const largest = new Float64Array(layout.resultChannels);
  forEachVector(layout, (start, resultChannel, inputChannel) => {
    const factor = at(result.scale, resultChannel) * at(input.scale, inputChannel);
    for (let i = start; i < start + layout.inner; i++) {
      const value = (elements[i] ?? 0) * factor;
      scaled[i] = value;
      largest[resultChannel] = Math.max(largest[resultChannel] ?? 0, Math.abs(value));
    }
  });
  const isLost = largest.some((size) => size > 0 && size < SMALLEST_NORMAL[dtype]);
  return isLost ? undefined : roundedTensor(dtype, shape, scaled);
}

/** Calls back with the begin of each run of weights of one channel of the result and the input. */
function forEachVector(
  layout: WeightedProduct['layout'],
  visit: (start: number, resultChannel: number, inputChannel: number) => void,
): void {
  const { outer, rows, columns, inner } = layout;
  for (let matrix = 0; matrix < outer; matrix++) {
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const start = ((matrix * rows + row) * columns + column) * inner;
        visit(start, layout.resultChannel(row, column), layout.inputChannel(row, column));
      }
    }
  }
}

/**
 * The bias for each channel of the result, (K,); of a gemm whose bias varies by rows (M, K). It
 * includes the factor beta, which the product then is without.
 */
function foldBias(product: WeightedProduct, affines: FoldedAffines): HostTensor | undefined {
  const { bias, beta, layout, weights } = product;
  const { scale, shift } = affines.result;
  const channels = layout.resultChannels;
  const added = combine(
    combine(inputShift(product, affines.input), scale, (a, b) => a * b),
    shift,
    (a, b) => a + b,
  );
  if (bias === undefined) return roundedTensor(weights.dtype, [channels], added);
  const given = numberElements(bias);
  const rows = bias.shape.length === 2 ? (bias.shape[0] ?? 1) : 1;
  const width = bias.shape.at(-1) ?? 1;
  const values = new Float64Array(rows * channels);
  for (let i = 0; i < values.length; i++) {
    const channel = i % channels;
    const row = (i - channel) / channels;
    const own = (given[row * width + (width === 1 ? 0 : channel)] ?? 0) * beta;
    values[i] = own * at(scale, channel) + at(added, channel);
  }
  return roundedTensor(weights.dtype, rows === 1 ? [channels] : [rows, channels], values);
}

/** The product of a number that is added to each channel of its input. */
function inputShift({ weights, layout, alpha }: WeightedProduct, { shift }: Affine): Coefficients {
  if (shift === 0) return 0;
  const elements = numberElements(weights);
  const sums = new Float64Array(layout.resultChannels);
  forEachVector(layout, (start, resultChannel, inputChannel) => {
    let sum = 0;
    for (let i = start; i < start + layout.inner; i++) sum += elements[i] ?? 0;
    sums[resultChannel] = (sums[resultChannel] ?? 0) + sum * alpha * at(shift, inputChannel);
  });
  return sums;
}
