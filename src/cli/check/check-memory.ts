import type { Executable } from '../../bytecode/index.ts';
import type { Dim } from '../../core/dims/dim.ts';
import { storageByteLength } from '../../core/tensor/dtype.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { plannedBytes } from '../../worker/sources/planned-bytes.ts';
import { peakMemory } from './peak-memory.ts';

export type CheckedDevice = 'webgpu' | 'wasm' | 'host';

/** Bytes that a run takes on a device, as far as its sizes are known. */
export interface MemoryAnswer {
  readonly weights: number;
  /** Weights in other layouts, which kernels read faster: at most. */
  readonly prepacked: number;
  /** Inputs, tensors between kernels and results: the most at one time. */
  readonly tensors: number;
  readonly total: number;
  /** True if there are more tensors, of sizes that only a run tells: they are not counted. */
  readonly isAtLeast: boolean;
  /** Bytes of the largest tensor. */
  readonly largest: number;
  /** Undefined without a budget. */
  readonly fits: boolean | undefined;
}

/** Prepacked bytes as parts of the weights, as `prepackedBytes` of a machine is by default. */
const PREPACKED_SHARE: Readonly<Record<CheckedDevice, number>> = {
  webgpu: 1 / 16,
  wasm: 2,
  host: 0,
};

/** The memory of one run of a program on a device, beside a budget in bytes. */
export function checkMemory(
  executable: Executable,
  device: CheckedDevice,
  budget: number | undefined,
): MemoryAnswer {
  const { constants } = plannedBytes(executable);
  const { peak, isAtLeast } = peakMemory(executable);
  const prepacked = Math.floor(constants * PREPACKED_SHARE[device]);
  const total = constants + prepacked + peak;
  const tensors = executable.primitives.flatMap(({ params, results }) => [
    ...params,
    ...results.map(({ type }) => type),
  ]);
  return {
    weights: constants,
    prepacked,
    tensors: peak,
    total,
    isAtLeast,
    largest: tensors.reduce((most, type) => Math.max(most, byteLengthOf(type)), 0),
    fits: budget === undefined ? undefined : total <= budget,
  };
}

/** 0 where a run tells a size. */
function byteLengthOf({
  dtype,
  shape,
}: {
  readonly dtype: Parameters<typeof storageByteLength>[0];
  readonly shape: readonly Dim[];
}): number {
  const sizes = shape.filter((dim) => typeof dim === 'number');
  return sizes.length < shape.length ? 0 : storageByteLength(dtype, elementCount(sizes));
}
