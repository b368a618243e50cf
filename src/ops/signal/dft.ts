import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { elementCount, normalizeAxis, type Shape } from '../../core/tensor/shape.ts';
import { boolAttribute, intAttribute } from '../attributes.ts';
import { defineOp, tensor } from '../define-op.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { formatType, operand, requireMinimumRank, requireRank } from '../operand-checks.ts';

const NAME = 'dft';

/** The sums that define the discrete Fourier transform, so that any length is right. */
export const dft = defineOp({
  name: NAME,
  kind: 'anchor',
  inputs: [tensor('x', FLOATS), tensor('twiddles', FLOATS)],
  attributes: {
    axis: { type: 'int' },
    inverse: { type: 'bool', default: false },
    onesided: { type: 'bool', default: false },
  },
  infer(inputs, attributes, dims) {
    const [x, table] = [operand(inputs, 0), operand(inputs, 1)];
    requireMinimumRank(x, 2, `${NAME}: input x`);
    requireRank(table, 2, `${NAME}: input twiddles`);
    const axis = axisOf(attributes, x.shape.length);
    const parts = x.shape.at(-1) ?? dims.of(1);
    const complaint = () => ({
      where: `${NAME}: input x`,
      got: formatType(x),
      expected: 'a last axis of 1 or 2, for real or complex numbers',
    });
    dims.requireAtMost(dims.of(1), parts, complaint);
    dims.requireAtMost(parts, 2, complaint);
    const [length = dims.of(0)] = table.shape;
    const isInverse = boolAttribute(attributes, 'inverse');
    const isOneSided = boolAttribute(attributes, 'onesided');
    const half = dims.add(dims.floordiv(length, 2), dims.min(length, 1));
    const shape = x.shape.with(axis, isOneSided && !isInverse ? half : length);
    shape[shape.length - 1] = dims.of(isOneSided && isInverse ? 1 : 2);
    return { dtype: x.dtype, shape };
  },
  lower: 'core',
  tolerance: { rtol: 1e-4, atol: 1e-3 },
});

/** The axis of a transform, which is not the last. */
function axisOf(attributes: Attributes, rank: number): number {
  const axis = intAttribute(attributes, 'axis');
  return normalizeAxis(axis < 0 ? axis + 1 : axis, rank - 1, `${NAME}: attribute axis`);
}

interface Transform {
  /** Elements that are read, and elements along the axis of x, of the transform and of the result. */
  readonly read: number;
  readonly size: number;
  readonly length: number;
  readonly outSize: number;
  /** Complex numbers after the axis. */
  readonly inner: number;
  /** Numbers of an element of x: 2 where x is complex. */
  readonly parts: number;
  /** The result is real, made of half of a spectrum. */
  readonly isHermitian: boolean;
  /** 1, or -1 for the forward transform. */
  readonly direction: number;
  readonly scale: number;
}

export function transformOf(shapes: readonly Shape[], attributes: Attributes): Transform {
  const [x = [], table = [], y = []] = shapes;
  const axis = axisOf(attributes, x.length);
  const [size = 0, length = 0] = [x[axis], table[0]];
  const isInverse = boolAttribute(attributes, 'inverse');
  const isHermitian = isInverse && boolAttribute(attributes, 'onesided');
  return {
    read: Math.min(size, isHermitian ? Math.floor(length / 2) + 1 : length),
    size,
    length,
    outSize: y[axis] ?? 0,
    inner: elementCount(x.slice(axis + 1, -1)),
    parts: x.at(-1) ?? 1,
    isHermitian,
    direction: isInverse ? 1 : -1,
    scale: isInverse ? 1 / length : 1,
  };
}
