import { UnsupportedError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { HostInput } from '../../runtime/link/host-function.ts';
import { TensorValue, type Value } from '../../runtime/values/value.ts';
import type { VirtualMachine } from '../../runtime/virtual-machine.ts';

/**
 * Arguments of a run that another machine can have too: tensors in host memory, and numbers. Rejects with UnsupportedError
 * for other values; `where` names who asks.
 */
export async function readArguments(
  machine: VirtualMachine,
  args: readonly Value[],
  where: string,
): Promise<(HostTensor | number)[]> {
  const tensors = args.filter((arg) => arg instanceof TensorValue);
  const read = await machine.read(tensors);
  return args.map((arg) => {
    const tensor = arg instanceof TensorValue ? read[tensors.indexOf(arg)] : arg;
    if (typeof tensor === 'number' || isTensor(tensor)) return tensor;
    throw notForBoth(where);
  });
}

/** The error for an input that only one machine can have. */
export function notForBoth(where: string): UnsupportedError {
  return new UnsupportedError({
    where,
    got: 'an input that is neither a tensor nor an int',
    expected: 'tensors and ints, which both runs can be given',
  });
}

/** Tells tensors in host memory from other values. */
export const isTensor = (value: HostInput | undefined): value is HostTensor =>
  typeof value === 'object' && value !== null && 'elements' in value;
