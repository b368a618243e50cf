import type { ExecutableData } from '../../bytecode/executable.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { RangeMeasurement, type ValueRange } from '../../runtime/compare/measure-ranges.ts';
import type { ControlRequest } from '../protocol/control-request.ts';
import { widened } from './verify-program.ts';

/** A program whose values are measured, in several runs one after the other. */
export interface MeasuredProgram {
  /** The session that the runs belong to. */
  readonly owner: object;
  readonly executable: ExecutableData;
  /** Reads its tensors by their index in the pool of constants. */
  readonly readConstants: () => Promise<ReadonlyMap<number, HostTensor>>;
}

/** Measurements that wait for further runs. */
const measurements = new WeakMap<object, RangeMeasurement>();

/** Runs a function in float32 on the host; how large the values are that the program stores as float16, in all runs. */
export async function measureProgram(
  { owner, executable, readConstants }: MeasuredProgram,
  {
    functionName,
    isLast,
  }: Pick<Extract<ControlRequest, { kind: 'ranges' }>, 'functionName' | 'isLast'>,
  {
    args,
    signal,
  }: { readonly args: readonly (HostTensor | number)[]; readonly signal: AbortSignal },
): Promise<readonly ValueRange[]> {
  const measurement =
    measurements.get(owner) ??
    (await RangeMeasurement.open(executable, await readConstants(), createHostDevice()));
  measurements.set(owner, measurement);
  try {
    return await measurement.run(functionName, args.map(widened), signal);
  } finally {
    if (isLast) {
      measurements.delete(owner);
      measurement.dispose();
    }
  }
}
