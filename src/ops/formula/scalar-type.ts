import { type DType, dtypeInfo } from '../../core/tensor/dtype.ts';

/** The type in which a node of a formula computes. Only the host has f64. */
export type ScalarType = 'f32' | 'f64' | 'i32' | 'u32' | 'i64' | 'u64' | 'bool';

/**
 * The type for elements of a dtype. float16 is computed as f32 and rounded where it is stored or
 * converted to, integers of less than 32 bits as i32 or u32, and wrap where they are stored.
 */
export function scalarType(dtype: DType): ScalarType {
  if (dtype === 'float64') return 'f64';
  if (dtype === 'int64') return 'i64';
  if (dtype === 'uint64') return 'u64';
  return NARROW_TYPES[dtypeInfo(dtype).category];
}

const NARROW_TYPES = { float: 'f32', int: 'i32', uint: 'u32', bool: 'bool' } as const;

export function isFloatType(type: ScalarType): boolean {
  return type === 'f32' || type === 'f64';
}

/** Returns true for types whose values are bigints on the host and vec2<u32> in WGSL. */
export function isWideType(type: ScalarType): type is 'i64' | 'u64' {
  return type === 'i64' || type === 'u64';
}

export function isSignedType(type: ScalarType): boolean {
  return type !== 'u32' && type !== 'u64' && type !== 'bool';
}
