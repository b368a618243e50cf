import type { VarExpr } from '../../compiler/ir/expr.ts';
import type { DeviceTensor } from '../../client/values/device-tensor.ts';
import type { ArrayData } from '../array-state.ts';
import { Runner } from '../runners/runner.ts';

/** The last resort: elements of arrays that nobody has any more, and that nobody disposed of. */
const COLLECTED = new FinalizationRegistry<ArrayData>(releaseAfterReaders);

/** Frees elements on a device when nothing refers to their variable any more. */
export function releaseWithLeaf(leaf: VarExpr, data: ArrayData): void {
  if (data.device !== undefined) COLLECTED.register(leaf, data, leaf);
}

/** Frees the elements of a variable, once runs that read them have begun. */
export function releaseNow(leaf: VarExpr, data: ArrayData): void {
  COLLECTED.unregister(leaf);
  releaseAfterReaders(data);
}

/** Runs that are to read them may still wait for their program. */
function releaseAfterReaders({ device, readers }: ArrayData): void {
  if (device !== undefined) void Promise.allSettled(readers).then(() => release(device));
}

export function release(device: Promise<DeviceTensor>): void {
  device.then(
    (tensor) => Runner.release(tensor),
    // There is nothing to free of a run that failed.
    () => undefined,
  );
}
