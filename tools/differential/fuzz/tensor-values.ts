import { type DType, dtypeInfo, isBigInt } from '../../../src/core/tensor/dtype.ts';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { elementCount, type Shape } from '../../../src/core/tensor/shape.ts';
import {
  isSmallFloat,
  numberToSmallFloat,
  smallFloatToNumber,
} from '../../../src/core/tensor/small-floats.ts';

const ROUNDING = { saturate: false, roundMode: 'up' };

/** Elements as numbers; those of 64 bits as bigints. */
export function elementsOf(tensor: HostTensor): ArrayLike<number | bigint> {
  const { dtype, data } = tensor;
  if (!isSmallFloat(dtype)) return data;
  return Array.from(data as ArrayLike<number | bigint>, (bits) =>
    smallFloatToNumber(dtype, Number(bits)),
  );
}

/** A tensor of numbers, rounded to its dtype. */
export function tensorFrom(dtype: DType, shape: Shape, values: readonly number[]): HostTensor {
  if (isSmallFloat(dtype)) {
    const bits = values.map((value) => numberToSmallFloat(dtype, value, ROUNDING));
    return HostTensor.from(dtype, shape, bits);
  }
  return HostTensor.from(dtype, shape, values);
}

/** Random elements: small integers, quarters or plain numbers, in a range. */
export function randomTensor(
  dtype: DType,
  shape: Shape,
  { random, range }: { random: () => number; range?: readonly [number, number] | undefined },
): HostTensor {
  const { category } = dtypeInfo(dtype);
  const kind = random();
  const [low, high] = range ?? RANGES[category];
  const count = elementCount(shape);
  if (isBigInt(dtype) && range === undefined && kind < 0.4) {
    const word = (): bigint => BigInt(Math.floor(random() * 2 ** 32));
    const values = Array.from({ length: count }, () => ((word() << 32n) | word()) >> 3n);
    return HostTensor.from(dtype, shape, values);
  }
  const values = Array.from({ length: count }, () => {
    const value = low + random() * (high - low);
    if (category !== 'float') return Math.floor(value);
    const quarter = Math.ceil(value * 4) / 4;
    return kind < 0.4 && quarter < high ? quarter : value;
  });
  return tensorFrom(dtype, shape, values);
}

const RANGES = {
  float: [-2, 2],
  int: [-8, 8],
  uint: [0, 16],
  bool: [0, 2],
} as const;
