import { ShapeError } from '../core/errors.ts';
import type { Attributes } from '../core/primitive-function.ts';
import type { Shape } from '../core/shape.ts';
import { intsAttribute } from './attributes.ts';

/** A sliding window along one axis of an image. */
export interface WindowAxis {
  readonly size: number;
  readonly kernel: number;
  readonly stride: number;
  readonly dilation: number;
  readonly padBefore: number;
  readonly padAfter: number;
  /** Positions of the window: the size of the result. */
  readonly count: number;
}

export interface WindowOptions {
  /** The operator, for messages. */
  readonly name: string;
  /** Height and width of the window. */
  readonly kernel: readonly number[];
  /** Whether a last window that hangs over the padding counts, if it begins inside. */
  readonly ceilMode: boolean;
}

/** The windows along height and width of an (N, C, H, W) shape. Throws ShapeError if none fits. */
export function windowAxes(
  shape: Shape,
  attributes: Attributes,
  { name, kernel, ceilMode }: WindowOptions,
): [WindowAxis, WindowAxis] {
  const axis = (i: 0 | 1): WindowAxis => {
    const window = {
      size: shape[i + 2] ?? 0,
      kernel: kernel[i] ?? 1,
      stride: intsAttribute(attributes, 'strides')[i] ?? 1,
      dilation: intsAttribute(attributes, 'dilations')[i] ?? 1,
      padBefore: intsAttribute(attributes, 'pads')[i] ?? 0,
      padAfter: intsAttribute(attributes, 'pads')[i + 2] ?? 0,
    };
    return { ...window, count: windowCount(window, { name, ceilMode }) };
  };
  return [axis(0), axis(1)];
}

function windowCount(
  { size, kernel, stride, dilation, padBefore, padAfter }: Omit<WindowAxis, 'count'>,
  { name, ceilMode }: Omit<WindowOptions, 'kernel'>,
): number {
  const extent = dilation * (kernel - 1) + 1;
  const room = size + padBefore + padAfter - extent;
  if (room < 0) {
    throw new ShapeError({
      where: name,
      got: `a window of ${extent} over ${size} elements padded by ${padBefore} and ${padAfter}`,
      expected: 'a window that fits',
    });
  }
  if (!ceilMode) return Math.floor(room / stride) + 1;
  const count = Math.ceil(room / stride) + 1;
  return (count - 1) * stride >= size + padBefore ? count - 1 : count;
}

/** The taps, from and up to, whose source lies inside when the window begins at `start`. */
export function tapRange({ size, kernel, dilation }: WindowAxis, start: number): [number, number] {
  const from = start >= 0 ? 0 : Math.ceil(-start / dilation);
  const to = Math.min(kernel, Math.ceil((size - start) / dilation));
  return [from, Math.max(from, to)];
}
