import type { DType } from '../../core/tensor/dtype.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';

/** dtypes of shapes, axes and the like. */
export const INTEGERS: readonly DType[] = ['int64', 'int32'];

/** Integers as numbers. ONNX writes "to the end" as the largest int64, which is no exact number. */
export function integersOf({ data }: HostTensor): number[] {
  return Array.from(data, (value: number | bigint) =>
    Math.min(Math.max(Number(value), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER),
  );
}
