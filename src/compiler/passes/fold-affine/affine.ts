import { encodeFloat16 } from '../../../core/tensor/float16-arrays.ts';
import type { DType } from '../../../core/tensor/dtype.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { Shape } from '../../../core/tensor/shape.ts';
import type { TensorType } from '../../../core/contracts/primitive-function.ts';
import { numberElements } from '../../../ops/elements.ts';

/** One number for all channels, or one for each. */
export type Coefficients = number | Float64Array;

/** x * scale + shift along the channels of x, in double precision. */
export interface Affine {
  readonly scale: Coefficients;
  readonly shift: Coefficients;
}

export const IDENTITY: Affine = { scale: 1, shift: 0 };

/** First `inner`, then `outer`. */
export function composeAffine(inner: Affine, outer: Affine): Affine {
  return {
    scale: combine(inner.scale, outer.scale, (a, b) => a * b),
    shift: combine(
      combine(inner.shift, outer.scale, (t, s) => t * s),
      outer.shift,
      (a, b) => a + b,
    ),
  };
}

export function combine(
  left: Coefficients,
  right: Coefficients,
  operation: (left: number, right: number) => number,
): Coefficients {
  if (typeof left === 'number') {
    if (typeof right === 'number') return operation(left, right);
    return right.map((value) => operation(left, value));
  }
  return left.map((value, i) => operation(value, at(right, i)));
}

export function at(coefficients: Coefficients, channel: number): number {
  return typeof coefficients === 'number' ? coefficients : (coefficients[channel] ?? 0);
}

export function isFinite(coefficients: Coefficients): boolean {
  if (typeof coefficients === 'number') return Number.isFinite(coefficients);
  return coefficients.every(Number.isFinite);
}

/**
 * The elements of a constant that is combined with a tensor of `type`, by the channels along `axis`.
 * Undefined where it varies along another axis or makes the result larger than the tensor.
 */
export function channelCoefficients(
  constant: HostTensor,
  { shape }: TensorType,
  axis: number | undefined,
): Coefficients | undefined {
  const offset = shape.length - constant.shape.length;
  if (offset < 0) return undefined;
  const fits = constant.shape.every((dim, i) => dim === 1 || dim === shape[i + offset]);
  if (!fits) return undefined;
  if (isSingle(constant)) return firstNumber(constant);
  const isAlongAxis = constant.shape.every((dim, i) => dim === 1 || i + offset === axis);
  return isAlongAxis ? Float64Array.from(numberElements(constant)) : undefined;
}

/** A vector with one element for each channel. */
export function vectorCoefficients(constant: HostTensor): Coefficients {
  return isSingle(constant) ? firstNumber(constant) : Float64Array.from(numberElements(constant));
}

function isSingle({ isSplat, elementCount }: HostTensor): boolean {
  return isSplat || elementCount === 1;
}

function firstNumber({ dtype, elements }: HostTensor): number {
  return numberElements(new HostTensor(dtype, [], elements))[0] ?? 0;
}

/** The numbers as a tensor, each rounded once. Undefined where one is too large for the dtype. */
export function roundedTensor(
  dtype: DType,
  shape: Shape,
  values: Coefficients,
): HostTensor | undefined {
  const list = typeof values === 'number' ? [values] : values;
  const elements = dtype === 'float16' ? new Uint16Array(list.length) : Float32Array.from(list);
  if (elements instanceof Uint16Array) encodeFloat16(list, elements);
  const rounded = new HostTensor(dtype, [list.length], elements);
  if (!numberElements(rounded).every(Number.isFinite)) return undefined;
  const count = shape.reduce((product, dim) => product * dim, 1);
  const isSplat = typeof values === 'number' && count !== 1;
  return new HostTensor(dtype, shape, elements, isSplat);
}
