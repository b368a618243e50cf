import { elementCount, type Shape } from '../../core/tensor/shape.ts';
import { type ErrorFeedback, roundWithFeedback } from './samples/error-feedback.ts';

/** A tensor of int8 whose zero is 0, with a scale for each index of an axis. */
interface ChannelCodes {
  readonly codes: Int8Array<ArrayBuffer>;
  readonly scales: Float32Array<ArrayBuffer>;
}

interface ChannelFormat {
  readonly shape: Shape;
  /** The axis whose indices have a scale each. */
  readonly axis: number;
  /**
   * Rounds so that errors of a kernel cancel out: for convolutions, whose kernels read similar
   * inputs.
   */
  readonly cancels: boolean;
  /** How errors of a channel carry over, where samples of its inputs say so: they take the place of inputs that are alike. */
  readonly feedback?: ((channel: number) => ErrorFeedback | undefined) | undefined;
  /** Rounds a scale to how it is stored. */
  readonly roundScale: (scale: number) => number;
}

const LARGEST = 127;

/**
 * Codes from -127 to 127: the element of a channel that is farthest from 0 is 127 scales from it. Where errors are to
 * cancel out, they do in each kernel of a channel (what follows the first two axes) and then in the channel, within half
 * a step: sums of errors are what inputs that are alike see. This is the flipping of SQuant (Guo et al., ICLR 2022), which
 * needs no data; where samples say which inputs a channel has, its errors cancel out for these.
 */
export function codeChannels(
  values: ArrayLike<number>,
  { shape, axis, cancels, feedback, roundScale }: ChannelFormat,
): ChannelCodes {
  const count = shape[axis] ?? 1;
  const inner = elementCount(shape.slice(axis + 1));
  const outer = elementCount(shape.slice(0, axis));
  const kernel = elementCount(shape.slice(Math.max(2, axis + 1)));
  const codes = new Int8Array(values.length);
  const scales = new Float32Array(count);
  for (let channel = 0; channel < count; channel++) {
    const places = new Uint32Array(outer * inner);
    for (let i = 0; i < places.length; i++) {
      places[i] = (Math.floor(i / inner) * count + channel) * inner + (i % inner);
    }
    const own = feedback?.(channel);
    scales[channel] = codeChannel(values, codes, {
      places,
      kernel,
      cancels,
      feedback: own,
      roundScale,
    });
  }
  return { codes, scales };
}

interface Channel {
  /** Indices of the channel's elements in the tensor. */
  readonly places: Uint32Array;
  /** Elements that see inputs which are alike, of which a channel has several in a row. */
  readonly kernel: number;
  readonly cancels: boolean;
  readonly feedback: ErrorFeedback | undefined;
  readonly roundScale: (scale: number) => number;
}

/** Writes the codes of a channel. Its scale. */
function codeChannel(
  values: ArrayLike<number>,
  codes: Int8Array,
  { places, kernel, cancels, feedback, roundScale }: Channel,
): number {
  const farthest = places.reduce((most, at) => Math.max(most, Math.abs(values[at] ?? 0)), 0);
  // Where all elements are zero any scale does; 0 is none that ONNX allows.
  const scale = roundScale(farthest / LARGEST) || 1;
  const codeOf = (exact: number): number =>
    Math.max(-LARGEST, Math.min(LARGEST, Math.round(exact)));
  if (feedback !== undefined) {
    const steps = Float64Array.from(places, (at) => (values[at] ?? 0) / scale);
    roundWithFeedback(steps, feedback, (exact, i) => (codes[places[i] ?? 0] = codeOf(exact)));
    return scale;
  }
  // How far each code is above what it stands for, in steps.
  const errors = new Float64Array(places.length);
  for (const [i, at] of places.entries()) {
    const exact = (values[at] ?? 0) / scale;
    const code = codeOf(exact);
    codes[at] = code;
    errors[i] = code - exact;
  }
  if (!cancels) return scale;
  const flip = (begin: number, end: number): void => {
    flipCodes(codes, { errors, places, begin, end });
  };
  if (kernel > 1) {
    for (let begin = 0; begin < places.length; begin += kernel) flip(begin, begin + kernel);
  }
  flip(0, places.length);
  return scale;
}

interface Part {
  readonly errors: Float64Array;
  readonly places: Uint32Array;
  readonly begin: number;
  readonly end: number;
}

/** Rounds the elements nearest to a half the other way, one step each, until the sum of errors is at most half a step. */
function flipCodes(codes: Int8Array, { errors, places, begin, end }: Part): void {
  let sum = 0;
  for (let i = begin; i < end; i++) sum += errors[i] ?? 0;
  const step = Math.sign(sum);
  const wanted = Math.round(Math.abs(sum));
  if (wanted === 0) return;
  const nearest = Array.from({ length: end - begin }, (_, i) => begin + i)
    // An element that was flipped before would be more than a step off.
    .filter((i) => step * (errors[i] ?? 0) > 0 && Math.abs(errors[i] ?? 0) <= 0.5)
    .toSorted((a, b) => step * ((errors[b] ?? 0) - (errors[a] ?? 0)));
  for (const i of nearest.slice(0, wanted)) {
    const at = places[i] ?? 0;
    const code = (codes[at] ?? 0) - step;
    if (Math.abs(code) > LARGEST) continue;
    codes[at] = code;
    errors[i] = (errors[i] ?? 0) - step;
  }
}

export function decodeChannels(
  { codes, scales }: ChannelCodes,
  { shape, axis }: { readonly shape: Shape; readonly axis: number },
): Float32Array<ArrayBuffer> {
  const inner = elementCount(shape.slice(axis + 1));
  return Float32Array.from(
    codes,
    (code, i) => code * (scales[Math.floor(i / inner) % scales.length] ?? 0),
  );
}
