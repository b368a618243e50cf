import type { DType } from '../../core/tensor/dtype.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { isSmallFloat, smallFloatToNumber } from '../../core/tensor/small-floats.ts';
import { NUMERIC } from '../elementwise/number-dtypes.ts';

/** dtypes whose elements the host compares by value. */
export const COMPARED_DTYPES: readonly DType[] = [...NUMERIC, 'float16', 'bfloat16', 'bool'];

/** All elements by their values: small floats as numbers, not as bits. */
export function comparedElements({ dtype, data }: HostTensor): ArrayLike<number | bigint> {
  if (!isSmallFloat(dtype)) return data;
  return Array.from<number | bigint, number>(data, (bits) =>
    smallFloatToNumber(dtype, Number(bits)),
  );
}
