import { type DType, dtypeInfo } from '../../core/tensor/dtype.ts';

/** float64 is computed on the host; float16 goes where float32 does. */
export const FLOATS: readonly DType[] = ['float32', 'float64'];

const SIGNED_INTEGERS: readonly DType[] = ['int32', 'int8', 'int16', 'int64'];

export const UNSIGNED_INTEGERS: readonly DType[] = ['uint32', 'uint8', 'uint16', 'uint64'];

export const INTEGERS: readonly DType[] = [...SIGNED_INTEGERS, ...UNSIGNED_INTEGERS];

export const SIGNED: readonly DType[] = [...FLOATS, ...SIGNED_INTEGERS];

export const NUMERIC: readonly DType[] = [...FLOATS, ...INTEGERS];

export function isFloat(dtype: DType): boolean {
  return dtypeInfo(dtype).category === 'float';
}
