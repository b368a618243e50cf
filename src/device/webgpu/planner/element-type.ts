import type { DType } from '../../../core/dtype.ts';

/**
 * Types that values have inside a kernel: scalar types of WGSL, and `i64`, a vec2<u32> with the low
 * word first, which has no vectors of its own.
 */
export type ElementType = 'f32' | 'i32' | 'u32' | 'bool' | 'i64';

const ELEMENT_TYPES: Partial<Record<DType, ElementType>> = {
  float32: 'f32',
  int32: 'i32',
  uint32: 'u32',
  bool: 'bool',
  int64: 'i64',
};

/** The WGSL type of a dtype's elements; undefined for a dtype that kernels do not have. */
export function elementTypeOf(dtype: DType): ElementType | undefined {
  return ELEMENT_TYPES[dtype];
}

/** `f32` or `vec4<f32>`. */
export function vectorType(type: ElementType, width: 1 | 4): string {
  if (type === 'i64') {
    if (width === 1) return 'vec2<u32>';
    throw new Error('internal: a vector of int64');
  }
  return width === 1 ? type : `vec4<${type}>`;
}

/** The type in storage, where bool is a 32-bit word. */
export function storageType(type: ElementType, width: 1 | 4): string {
  return vectorType(type === 'bool' ? 'u32' : type, width);
}

/** Expression for a value read from storage. */
export function fromStorage(type: ElementType, width: 1 | 4, expression: string): string {
  return type === 'bool' ? `(${expression} != ${storageType(type, width)}())` : expression;
}

/** Expression for a value to be written to storage. */
export function toStorage(type: ElementType, width: 1 | 4, expression: string): string {
  if (type !== 'bool') return expression;
  return width === 1
    ? `select(0u, 1u, ${expression})`
    : `select(vec4<u32>(0u), vec4<u32>(1u), ${expression})`;
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
