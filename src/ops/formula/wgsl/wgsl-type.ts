import { internalError } from '../../../core/errors.ts';
import type { DType } from '../../../core/tensor/dtype.ts';
import { wgslLiteral } from '../../lowering/wgsl-literal.ts';
import { isWideType, type ScalarType } from '../scalar-type.ts';

/** The WGSL type, or vec4 of it when operands are vectors. 64-bit integers are vec2<u32>. */
export function wgslType(type: ScalarType, width: 1 | 4): string {
  if (type === 'f64') throw internalError('WGSL has no f64');
  const name = isWideType(type) ? 'vec2<u32>' : type;
  return width === 1 ? name : `vec4<${name}>`;
}

/** A constant, or four equal ones. */
export function wgslConstant(value: number, type: ScalarType, width: 1 | 4): string {
  switch (type) {
    case 'i64':
    case 'u64':
      return wideConstant(BigInt.asUintN(64, BigInt(Math.trunc(value))));
    case 'f64':
      throw internalError('WGSL has no f64');
    default:
      return wgslLiteral(value, DTYPES[type], width);
  }
}

const DTYPES = {
  f32: 'float32',
  i32: 'int32',
  u32: 'uint32',
  bool: 'bool',
} as const satisfies Partial<Record<ScalarType, DType>>;

function wideConstant(bits: bigint): string {
  if (bits === 0n) return 'vec2<u32>()';
  return `vec2<u32>(${BigInt.asUintN(32, bits)}u, ${bits >> 32n}u)`;
}
