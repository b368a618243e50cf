import type { DType } from '../../core/dtype.ts';
import { decodeFloat16 } from '../../core/float16-arrays.ts';
import type { HostTensor } from '../../core/host-tensor.ts';

/** dtypes whose elements the host compares by value. */
export const COMPARED_DTYPES: readonly DType[] = [
  'float32',
  'float64',
  'float16',
  'int8',
  'int16',
  'int32',
  'int64',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'bool',
];

/** All elements, by value. */
export function comparedElements({ dtype, data }: HostTensor): ArrayLike<number | bigint> {
  return dtype === 'float16' ? decodeFloat16(Uint16Array.from(data, Number)) : data;
}
