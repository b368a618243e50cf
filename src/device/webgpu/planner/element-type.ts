import { internalError } from '../../../core/errors.ts';
import type { DType } from '../../../core/tensor/dtype.ts';
import { WGSL_TYPES } from '../../../ops/lowering/wgsl-literal.ts';

/**
 * Types that values have inside a kernel: scalar types of WGSL, and `i64`, a vec2<u32> with the low
 * word first that holds int64 and uint64 and has no vectors of its own.
 */
export type ElementType = 'f32' | 'i32' | 'u32' | 'bool' | 'i64';

/** The WGSL type that a dtype is computed in; undefined for a dtype that kernels do not have. */
export function elementTypeOf(dtype: DType): ElementType | undefined {
  return dtype === 'int64' || dtype === 'uint64' ? 'i64' : WGSL_TYPES[dtype];
}

/** The WGSL type of elements side by side: `f32` or `vec4<f32>`. */
export function vectorType(type: ElementType, width: 1 | 4): string {
  if (type === 'i64') {
    if (width === 1) return 'vec2<u32>';
    throw internalError('a vector of 64-bit integers');
  }
  return width === 1 ? type : `vec4<${type}>`;
}

const SMALL_BITS: Partial<Record<DType, number>> = { int8: 8, uint8: 8, int16: 16, uint16: 16 };

/** Expression for a value of the dtype's WGSL type brought back into the dtype's range: it wraps. */
export function wrapped(dtype: DType, width: 1 | 4, expression: string): string {
  const bits = SMALL_BITS[dtype];
  if (bits === undefined) return expression;
  const shift = width === 1 ? `${32 - bits}u` : `vec4<u32>(${32 - bits}u)`;
  return `(((${expression}) << ${shift}) >> ${shift})`;
}

/** A WGSL literal for a finite number. */
export function literal(type: ElementType, value: number): string {
  switch (type) {
    case 'f32':
      return floatLiteral(value);
    case 'i32':
      return `i32(${Math.trunc(value)})`;
    case 'u32':
      return `${Math.trunc(value)}u`;
    case 'bool':
      return value === 0 ? 'false' : 'true';
    case 'i64': {
      const bits = BigInt.asUintN(64, BigInt(Math.trunc(value)));
      return `vec2<u32>(${bits & 0xffff_ffffn}u, ${bits >> 32n}u)`;
    }
    default:
      return type satisfies never;
  }
}

/** Infinities and NaN have no literal in WGSL; they travel as bits of a parameter instead. */
function floatLiteral(value: number): string {
  const text = String(Math.fround(value));
  return /[.e]/.test(text) ? `${text}f` : `${text}.0f`;
}
