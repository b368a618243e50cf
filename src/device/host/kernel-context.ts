import type { PrecisionOption } from '../../core/contracts/precision.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type {
  ConcreteTensorType,
  PrimitiveFunction,
} from '../../core/contracts/primitive-function.ts';
import type { OperatorTable } from '../../ops/operator.ts';
import type { DeviceTensor, KernelTiming, PrepackingBudget } from '../device.ts';
import type { HostStep } from './host-plan.ts';
import type { StoredTensor } from './storage-view.ts';

export type StoredBytes = Pick<StoredTensor, 'bytes' | 'byteOffset'>;

export interface KernelServices {
  /** Memory for temporaries, by slot; it grows to the largest request and is reused. */
  scratch(slot: number, byteLength: number): StoredBytes;
  /** The memory that holds the elements of an argument. */
  locate(tensor: DeviceTensor): StoredBytes;
  launched(): void;
  /** The timings that are being recorded, if any. */
  timings(): KernelTiming[] | undefined;
}

/** The part that kernels of one device share. */
export interface KernelContext extends KernelServices, PrecisionOption {
  readonly operators: OperatorTable;
  /** Absent: nothing is prepacked. */
  readonly prepacking?: PrepackingBudget | undefined;
}

/** Functions that run operators' references: fetched only where a kernel needs them. */
export interface References {
  /** Does a step over the memory of its values. */
  readonly runStep: (
    step: HostStep,
    values: readonly (StoredTensor | undefined)[],
    types: readonly ConcreteTensorType[],
  ) => void;
  /** The result of a primitive of one call whose shape depends on elements. */
  readonly computeOnHost: (
    primitive: PrimitiveFunction,
    inputs: readonly HostTensor[],
    context: KernelContext,
  ) => HostTensor;
}
