import type { DType } from '../../core/tensor/dtype.ts';
import { internalError } from '../../core/errors.ts';

const LARGEST_FLOAT32 = 3.4028234663852886e38;

/**
 * A WGSL expression for a number in a dtype that shaders compute with, as a scalar or as a vec4 of
 * equal elements. Infinities become the largest finite value, since WGSL has no literal for them
 * and implementations may assume that there are none.
 */
export function wgslLiteral(value: number, dtype: DType, width: 1 | 4): string {
  const scalar = scalarLiteral(value, dtype);
  return width === 1 ? scalar : `vec4<${wgslTypeName(dtype)}>(${scalar})`;
}

/** The WGSL type that computes with a dtype. */
export function wgslTypeName(dtype: DType): 'f32' | 'i32' | 'u32' | 'bool' {
  const name = WGSL_TYPES[dtype];
  if (name === undefined) throw internalError(`no WGSL type computes ${dtype}`);
  return name;
}

/** The types of WGSL that compute with dtypes, but for integers of 64 bits, which have none. */
export const WGSL_TYPES: Partial<Record<DType, 'f32' | 'i32' | 'u32' | 'bool'>> = {
  float32: 'f32',
  float16: 'f32',
  int8: 'i32',
  int16: 'i32',
  int32: 'i32',
  uint8: 'u32',
  uint16: 'u32',
  uint32: 'u32',
  bool: 'bool',
};

/** `f32`, or `vec4<f32>` when operands are vectors. */
export function wgslOperandType(dtype: DType, width: 1 | 4): string {
  return width === 1 ? wgslTypeName(dtype) : `vec4<${wgslTypeName(dtype)}>`;
}

function scalarLiteral(value: number, dtype: DType): string {
  const type = wgslTypeName(dtype);
  switch (type) {
    case 'f32': {
      if (Number.isNaN(value)) throw internalError('WGSL has no literal for NaN');
      const clamped = Math.min(Math.max(value, -LARGEST_FLOAT32), LARGEST_FLOAT32);
      const rounded = Math.fround(clamped);
      return rounded < 0 || Object.is(rounded, -0) ? `(-${-rounded}f)` : `${rounded}f`;
    }
    case 'i32':
      return `i32(${clampInteger(value, -(2 ** 31), 2 ** 31 - 1)})`;
    case 'u32':
      return `${clampInteger(value, 0, 2 ** 32 - 1)}u`;
    case 'bool':
      return value === 0 ? 'false' : 'true';
    default:
      return type satisfies never;
  }
}

function clampInteger(value: number, low: number, high: number): number {
  return Math.trunc(Math.min(Math.max(value, low), high));
}
