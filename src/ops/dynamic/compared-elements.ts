import type { DType } from '../../core/dtype.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import { isSmallFloat, smallFloatToNumber } from '../../core/small-floats.ts';

/** dtypes whose elements the host compares by value. */
export const COMPARED_DTYPES: readonly DType[] = [
  'float32',
  'float64',
  'float16',
  'bfloat16',
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
  if (!isSmallFloat(dtype)) return data;
  return Array.from<number | bigint, number>(data, (bits) =>
    smallFloatToNumber(dtype, Number(bits)),
  );
}
