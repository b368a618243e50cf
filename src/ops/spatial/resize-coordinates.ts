import { internalError } from '../../core/errors.ts';

/** How ONNX Resize names the ways from an element of the result to a place in the input. */
export const COORDINATE_MODES: readonly string[] = [
  'half_pixel',
  'half_pixel_symmetric',
  'pytorch_half_pixel',
  'align_corners',
  'asymmetric',
  'tf_half_pixel_for_nn',
  'tf_crop_and_resize',
];

/** How a place between two elements becomes one of them. */
export const ROUNDING_MODES: readonly string[] = [
  'round_prefer_floor',
  'round_prefer_ceil',
  'floor',
  'ceil',
];

/** One axis that is resized. */
export interface ResizedAxis {
  readonly inSize: number;
  readonly outSize: number;
  /** The scale is `numerator / denominator`. */
  readonly numerator: number;
  readonly denominator: number;
  /** Begin and end of the part that tf_crop_and_resize takes, as fractions of the axis. */
  readonly roi: readonly [number, number];
}

/**
 * The place in the input of each element of the result, by the formulas of ONNX Resize. Where the
 * scale is a ratio of sizes, the quotient is rounded once; where it is a float, results are rounded
 * to float32, so that a third of a multiple of three is a whole number.
 */
export function resizedPlaces(mode: string, axis: ResizedAxis): Float64Array {
  const { inSize, outSize, numerator, denominator, roi } = axis;
  const isRatio = Number.isInteger(numerator) && Number.isInteger(denominator);
  const round = isRatio ? (value: number) => value : Math.fround;
  // ONNX means the length before it is rounded down.
  const length = (inSize * numerator) / denominator;
  // So corners would align only where it is whole. Where an axis grows they do all the same, as in PyTorch and
  // onnxruntime; ONNX has test cases for one that becomes shorter.
  const aligned = numerator > denominator ? outSize : length;
  const unscale = (x: number) => round((x * denominator) / numerator);
  const halfPixel = (x: number) => round(unscale(x + 0.5) - 0.5);
  const last = inSize - 1;
  const step = (x: number, span: number, of = length) => round((x * last * span) / (of - 1));
  const place = (x: number): number => {
    switch (mode) {
      case 'half_pixel':
        return halfPixel(x);
      case 'half_pixel_symmetric':
        return (inSize / 2) * (1 - outSize / length) + halfPixel(x);
      case 'pytorch_half_pixel':
        return outSize > 1 ? halfPixel(x) : 0;
      case 'align_corners':
        return aligned === 1 ? 0 : step(x, 1, aligned);
      case 'asymmetric':
        return unscale(x);
      case 'tf_half_pixel_for_nn':
        return unscale(x + 0.5);
      case 'tf_crop_and_resize': {
        const [begin, end] = roi;
        return length === 1 ? 0.5 * (begin + end) * last : begin * last + step(x, end - begin);
      }
      default:
        throw internalError(`coordinates ${mode}`);
    }
  };
  return Float64Array.from({ length: outSize }, (_, x) => place(x));
}

export function roundPlace(mode: string, place: number): number {
  switch (mode) {
    case 'round_prefer_floor':
      return Math.ceil(place - 0.5);
    case 'round_prefer_ceil':
      return Math.floor(place + 0.5);
    case 'floor':
      return Math.floor(place);
    default:
      return Math.ceil(place);
  }
}
