import { run } from '../interpreter.ts';
import type { Invocation } from '../invocation.ts';
import { RunControl } from '../snapshot/run-control.ts';
import type { Value } from '../values/value.ts';
import type { VirtualMachine } from '../virtual-machine.ts';

/** Runs so many instructions, as {@link run} does. A breakpoint of whoever pauses the session is not one of this call. */
export function runInstructions(
  machine: VirtualMachine,
  invocation: Invocation,
  count: number,
): Promise<Value> | undefined {
  const pending = run(invocation, count);
  const frame = invocation.frames.at(-1);
  if (!invocation.isBroken || frame === undefined) return pending;
  invocation.isBroken = false;
  const control = RunControl.of(machine);
  return control.withoutBreakpoint(frame.function, frame.pc, () => run(invocation, 1));
}
