import type { ExecutableData } from '../../bytecode/executable.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import { TensorValue } from '../value.ts';
import type { VirtualMachine } from '../virtual-machine.ts';

/** The tensors of a program whose data section is in memory, by their index in the pool of constants. */
export function constantsOf({
  constants,
  data,
}: ExecutableData & { readonly data: Uint8Array }): ReadonlyMap<number, HostTensor> {
  const tensors = new Map<number, HostTensor>();
  for (const [index, constant] of constants.entries()) {
    if (constant.kind !== 'tensor') continue;
    const { dtype, shape, isSplat, byteOffset, byteLength } = constant;
    const bytes = data.slice(byteOffset, byteOffset + byteLength);
    const stored = HostTensor.fromBytes(dtype, isSplat ? [1] : shape, bytes);
    tensors.set(index, new HostTensor(dtype, shape, stored.elements, isSplat));
  }
  return tensors;
}

/** The same of a machine that has them on its devices, in one round trip for each. */
export async function readConstants(
  machine: VirtualMachine,
): Promise<ReadonlyMap<number, HostTensor>> {
  const { values } = machine.internals().constants;
  const placed = [...values.entries()].filter(
    (entry): entry is [number, TensorValue] => entry[1] instanceof TensorValue,
  );
  const read = await machine.read(placed.map(([, tensor]) => tensor));
  return new Map(
    placed.flatMap(([index], i) => {
      const tensor = read[i];
      return tensor === undefined ? [] : [[index, tensor] as const];
    }),
  );
}
