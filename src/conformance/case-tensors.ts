import { type DType, dtypeInfo, isBigInt } from '../core/tensor/dtype.ts';
import { numberToFloat16 } from '../core/tensor/float16.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { elementCount, type Shape } from '../core/tensor/shape.ts';
import type { OpCase, OpCaseInput } from '../ops/op-cases.ts';

/** The inputs of a case, filled from `random` (numbers in [0, 1)) where it gives no values. */
export function caseTensors(opCase: OpCase, random: () => number): (HostTensor | undefined)[] {
  return opCase.inputs.map((input) =>
    input === undefined ? undefined : caseTensor(input, random),
  );
}

function caseTensor(input: OpCaseInput, random: () => number): HostTensor {
  const { dtype, shape, values } = input;
  if (values !== undefined) return tensorOf(dtype, shape, values);
  const { category } = dtypeInfo(dtype);
  if (isBigInt(dtype) && input.range === undefined) return wideTensor(dtype, shape, random);
  const [low, high] = input.range ?? DEFAULT_RANGES[category];
  const numbers = Array.from({ length: elementCount(shape) }, () => {
    const value = low + random() * (high - low);
    return category === 'float' ? value : Math.floor(value);
  });
  return tensorOf(dtype, shape, numbers);
}

function tensorOf(dtype: DType, shape: Shape, values: readonly number[]): HostTensor {
  return HostTensor.from(dtype, shape, dtype === 'float16' ? values.map(numberToFloat16) : values);
}

/** Small numbers, numbers of all 64 bits, and numbers in between by turns. */
function wideTensor(dtype: DType, shape: Shape, random: () => number): HostTensor {
  const word = () => BigInt(Math.floor(random() * 2 ** 32));
  const values = Array.from({ length: elementCount(shape) }, (_, i) => {
    const bits = BigInt.asIntN(64, (word() << 32n) | word()) >> BigInt([61, 0, 20, 31][i % 4] ?? 0);
    return dtype === 'int64' ? bits : BigInt.asUintN(64, bits);
  });
  return HostTensor.from(dtype, shape, values);
}

const DEFAULT_RANGES = {
  float: [-2, 2],
  int: [-8, 8],
  uint: [0, 16],
  bool: [0, 2],
} as const;
