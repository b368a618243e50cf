import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { TensorValue } from '../values/value.ts';
import type { VirtualMachine } from '../virtual-machine.ts';

/** The tensors of a machine's program by their index in the pool of constants, in one round trip for each device. */
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
