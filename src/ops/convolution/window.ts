import type { DimContext } from '../../core/dim-context.ts';
import { type Dim, formatDim } from '../../core/dim.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { intsAttribute } from '../attributes.ts';

/** A sliding window along one axis of an image. */
export interface WindowAxis<D extends Dim = number> {
  readonly size: D;
  readonly kernel: D;
  readonly stride: number;
  readonly dilation: number;
  readonly padBefore: number;
  readonly padAfter: number;
  /** Positions of the window: the size of the result. */
  readonly count: D;
}

export interface WindowOptions<D extends Dim> {
  /** The operator, for messages. */
  readonly name: string;
  /** Height and width of the window. */
  readonly kernel: readonly D[];
  /** Whether a last window that hangs over the padding counts, if it begins inside. */
  readonly ceilMode: boolean;
  readonly dims: DimContext<D>;
}

/** The windows along height and width of an (N, C, H, W) shape. Throws ShapeError if none fits. */
export function windowAxes<D extends Dim>(
  shape: readonly D[],
  attributes: Attributes,
  { name, kernel, ceilMode, dims }: WindowOptions<D>,
): [WindowAxis<D>, WindowAxis<D>] {
  const axis = (i: 0 | 1): WindowAxis<D> => {
    const window = {
      size: shape[i + 2] ?? dims.of(0),
      kernel: kernel[i] ?? dims.of(1),
      stride: intsAttribute(attributes, 'strides')[i] ?? 1,
      dilation: intsAttribute(attributes, 'dilations')[i] ?? 1,
      padBefore: intsAttribute(attributes, 'pads')[i] ?? 0,
      padAfter: intsAttribute(attributes, 'pads')[i + 2] ?? 0,
    };
    return { ...window, count: windowCount(window, { name, ceilMode, dims }) };
  };
  return [axis(0), axis(1)];
}

function windowCount<D extends Dim>(
  { size, kernel, stride, dilation, padBefore, padAfter }: Omit<WindowAxis<D>, 'count'>,
  { name, ceilMode, dims }: Omit<WindowOptions<D>, 'kernel'>,
): D {
  const extent = dims.add(dims.mul(dims.sub(kernel, 1), dilation), 1);
  const padded = dims.add(size, padBefore + padAfter);
  dims.requireAtMost(extent, padded, () => ({
    where: name,
    got: `a window of ${formatDim(extent)} over ${formatDim(size)} elements padded by ${padBefore} and ${padAfter}`,
    expected: 'a window that fits',
  }));
  const room = dims.sub(padded, extent);
  if (!ceilMode) return dims.add(dims.floordiv(room, stride), 1);
  const count = dims.add(dims.floordiv(dims.add(room, stride - 1), stride), 1);
  // As the padding is less than a window, at most the last one begins beyond the image.
  return dims.min(count, dims.floordiv(dims.add(size, padBefore + stride - 1), stride));
}

/** The taps, from and up to, whose source lies inside when the window begins at `start`. */
export function tapRange({ size, kernel, dilation }: WindowAxis, start: number): [number, number] {
  const from = start >= 0 ? 0 : Math.ceil(-start / dilation);
  const to = Math.min(kernel, Math.ceil((size - start) / dilation));
  return [from, Math.max(from, to)];
}
