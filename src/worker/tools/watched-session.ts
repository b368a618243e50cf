import { MachineRun, programRun } from '../../runtime/compare/machine-run.ts';
import { readConstants } from '../../runtime/compare/read-constants.ts';
import { programInMemory } from '../../runtime/compare/widen-program.ts';
import type { HostedSession } from '../host/hosted-session.ts';
import { readArguments } from '../host/read-arguments.ts';
import type { ToolContext, WatchedProgram } from './tool.ts';

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
