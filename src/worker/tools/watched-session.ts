import { MachineRun, programRun } from '../../runtime/compare/machine-run.ts';
import { programInMemory } from '../../runtime/compare/widen-program.ts';
import type { HostInput } from '../../runtime/link/host-function.ts';
import type { HostedSession } from '../host/hosted-session.ts';
import type { WatchedProgram } from './watched-program.ts';

/** The program of a session, run on its own machine. */
export function watchedSession(
  { machine }: HostedSession,
  args: readonly HostInput[],
): WatchedProgram {
  const devices = machine.internals().state.allocators.map((allocator) => allocator.device);
  return {
    executable: machine.executable,
    run: new MachineRun(machine, args),
    runOf: (program, inputs) =>
      programRun({
        program: programInMemory(program, new Map()),
        options: { devices },
        args: inputs,
      }),
  };
}
