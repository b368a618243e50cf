import { MachineRun, programRun } from '../../runtime/compare/machine-run.ts';
import { programInMemory } from '../../runtime/compare/widen-program.ts';
import type { HostedSession } from '../host/hosted-session.ts';
import { readArguments } from '../host/read-arguments.ts';
import type { ToolContext, WatchedProgram } from './tool.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { TensorValue } from '../../runtime/values/value.ts';
import type { VirtualMachine } from '../../runtime/virtual-machine.ts';

/** The program of a session, run on its own machine. */
export function watchedSession(
  hosted: HostedSession,
  { args, inputs, signal }: ToolContext,
): WatchedProgram {
  const { machine } = hosted;
  const devices = machine.internals().state.allocators.map((allocator) => allocator.device);
  return {
    executable: machine.executable,
    signal,
    run: (given) => new MachineRun(machine, given ?? inputs),
    runOf: (program, given) =>
      programRun({
        program: programInMemory(program, new Map()),
        options: { devices },
        args: given,
      }),
    exclude: (work) => hosted.device.exclude(work, signal),
    readArguments: () => readArguments(machine, args, 'verify'),
    readConstants: () => readConstants(machine),
  };
}

/** The tensors of a machine's program by their index in the pool of constants, in one round trip for each device. */
async function readConstants(machine: VirtualMachine): Promise<ReadonlyMap<number, HostTensor>> {
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
