import type { DimContext } from '../../core/dims/dim-context.ts';
import { type Dim, formatDim } from '../../core/dims/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import type { Attributes, TensorType } from '../../core/contracts/primitive-function.ts';
import { dimsAttribute } from '../attributes.ts';
import type { AttributeSpec } from '../define-op.ts';
import { formatType, requireLength } from '../operand-checks.ts';

/** A sliding window along one spatial axis. */
export interface WindowAxis<D extends Dim = number> {
  readonly size: D;
  readonly kernel: D;
  readonly stride: number;
  readonly dilation: number;
  readonly padBefore: D;
  readonly padAfter: D;
  /** Positions of the window: the size of the result. */
  readonly count: D;
}

interface WindowOptions<D extends Dim> {
  /** The operator, for messages. */
  readonly name: string;
  /** Sizes of the window, one for each axis. */
  readonly kernel: readonly D[];
  /**
   * True if a last window that reaches beyond the padding counts. It has to begin before the padding
   * at the end.
   */
  readonly ceilMode: boolean;
  readonly dims: DimContext<D>;
}

/** The attributes that describe a window but for its size; empty lists stand for ones and zeros. */
export const WINDOW_ATTRIBUTES: Readonly<Record<string, AttributeSpec>> = {
  strides: { type: 'ints', default: [], minimum: 1 },
  pads: { type: 'dims', default: [], minimum: 0 },
  dilations: { type: 'ints', default: [], minimum: 1 },
};

/**
 * The windows along the spatial axes of an (N, C, ...) shape; pads are all begins, then all ends.
 * Throws ShapeError if none fits, or if an attribute has another number of axes.
 */
export function windowAxes<D extends Dim>(
  shape: readonly D[],
  attributes: Attributes,
  { name, kernel, ceilMode, dims }: WindowOptions<D>,
): WindowAxis<D>[] {
  const rank = shape.length - 2;
  const list = (attribute: string, perAxis: number, otherwise: number): readonly Dim[] => {
    const given = dimsAttribute(attributes, attribute);
    if (given.length === 0) return new Array<Dim>(perAxis * rank).fill(otherwise);
    requireLength(given, perAxis * rank, `${name}: attribute ${attribute}`);
    return given;
  };
  const strides = list('strides', 1, 1);
  const dilations = list('dilations', 1, 1);
  const pads = list('pads', 2, 0);
  return shape.slice(2).map((size, axis) => {
    const window = {
      size,
      kernel: kernel[axis] ?? dims.of(1),
      stride: Number(strides[axis]),
      dilation: Number(dilations[axis]),
      padBefore: dims.of(pads[axis] ?? 0),
      padAfter: dims.of(pads[axis + rank] ?? 0),
    };
    return { ...window, count: windowCount(window, { name, ceilMode, dims }) };
  });
}

/** No window at all, along an axis that is not there. */
export const UNIT_AXIS: WindowAxis = {
  size: 1,
  kernel: 1,
  stride: 1,
  dilation: 1,
  padBefore: 0,
  padAfter: 0,
  count: 1,
};

/** Depth, height and width: missing axes in front are units. */
export type VolumeAxes = readonly [WindowAxis, WindowAxis, WindowAxis];

/** One to three axes as three. */
export function volumeAxes(axes: readonly WindowAxis[]): VolumeAxes {
  const at = (i: number): WindowAxis => axes[axes.length - 3 + i] ?? UNIT_AXIS;
  return [at(0), at(1), at(2)];
}

/** Throws ShapeError unless the type is (N, C) and one to three spatial axes. */
export function requireSpatial(type: TensorType, where: string): void {
  const rank = type.shape.length;
  if (rank >= 3 && rank <= 5) return;
  throw new ShapeError({
    where,
    got: `${formatType(type)} of rank ${rank}`,
    expected: 'rank 3 to 5: (N, C) and one to three spatial axes',
  });
}

function windowCount<D extends Dim>(
  { size, kernel, stride, dilation, padBefore, padAfter }: Omit<WindowAxis<D>, 'count'>,
  { name, ceilMode, dims }: Omit<WindowOptions<D>, 'kernel'>,
): D {
  const extent = dims.add(dims.mul(dims.sub(kernel, 1), dilation), 1);
  const padded = dims.add(dims.add(size, padBefore), padAfter);
  dims.requireAtMost(extent, padded, () => ({
    where: name,
    got: `a window of ${formatDim(extent)} over ${formatDim(size)} elements padded by ${formatDim(padBefore)} and ${formatDim(padAfter)}`,
    expected: 'a window that fits',
  }));
  const room = dims.sub(padded, extent);
  if (!ceilMode) return dims.add(dims.floordiv(room, stride), 1);
  const count = dims.add(dims.floordiv(dims.add(room, stride - 1), stride), 1);
  // As the padding is less than a window, at most the last one begins beyond the image.
  return dims.min(count, dims.floordiv(dims.add(dims.add(size, padBefore), stride - 1), stride));
}

/** The taps, from and up to, whose source lies inside when the window begins at `start`. */
export function tapRange({ size, kernel, dilation }: WindowAxis, start: number): [number, number] {
  const from = start >= 0 ? 0 : Math.ceil(-start / dilation);
  const to = Math.min(kernel, Math.ceil((size - start) / dilation));
  return [from, Math.max(from, to)];
}
