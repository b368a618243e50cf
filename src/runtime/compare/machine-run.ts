import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { HostInput } from '../link/host-function.ts';
import type { MachineOptions } from '../link/load-machine.ts';
import { KernelInstructions, type KernelLaunch } from '../observe/kernel-instructions.ts';
import { type InstructionObserver, steppedRunner } from '../observe/observe.ts';
import { overlap } from '../link/kernel-library.ts';
import { TensorValue } from '../values/value.ts';
import { VirtualMachine } from '../virtual-machine.ts';
import type { ProgramInMemory } from './widen-program.ts';
import type { OnWatchedCall, WatchedRun, WatchOptions } from './watched-run.ts';

/** A watched run of a machine's program, beside its other calls. Kernels, constants and memory are the machine's. */
export class MachineRun implements WatchedRun {
  readonly #machine: VirtualMachine;
  readonly #args: readonly HostInput[];

  /** `args` live as long as the run. */
  constructor(machine: VirtualMachine, args: readonly HostInput[]) {
    this.#machine = machine;
    this.#args = args;
  }

  async run(
    onCall: OnWatchedCall,
    { functionName, keepsInputs, signal }: WatchOptions,
  ): Promise<void> {
    const machine = this.#machine;
    const kernels = new KernelInstructions(machine.executable);
    const waiting = new Set<Promise<void>>();
    let launch: KernelLaunch | undefined;
    let inputs: Promise<readonly HostTensor[]> | undefined;
    const observer: InstructionObserver = {
      before: ({ frames, program }) => {
        const frame = frames.at(-1);
        launch = frame && kernels.next(frame, program.constants);
        inputs = launch && keepsInputs ? overwrittenInputs(machine, launch) : undefined;
        return 1;
      },
      after: () => {
        if (launch === undefined) return undefined;
        const { primitive, at, results } = launch;
        const [given, saved] = [launch.inputs.filter(isTensor), inputs];
        const waits = onCall({
          kernel: primitive.name,
          at,
          results: () => machine.read(results()),
          inputs: () => saved ?? machine.read(given),
        });
        waiting.add(waits);
        return waits.finally(() => waiting.delete(waits));
      },
    };
    const runner = steppedRunner(machine, observer);
    try {
      machine.release(await machine.invoke(functionName, this.#args, { signal, runner }));
    } finally {
      // Whoever owns the machine may dispose of it next.
      await Promise.allSettled(waiting);
    }
  }
}

/**
 * Inputs of a kernel of several operators that it is going to write over, read before it is launched: devices keep the order of
 * reads and launches. Undefined for other kernels.
 */
function overwrittenInputs(
  machine: VirtualMachine,
  { primitive, inputs, hasRoom, results }: KernelLaunch,
): Promise<readonly HostTensor[]> | undefined {
  if (primitive.body.length < 2 || !hasRoom) return undefined;
  const [given, written] = [inputs.filter(isTensor), results()];
  const isInPlace = given.some((input) =>
    written.some((result) => input.storage === result.storage && overlap(input, result)),
  );
  if (!isInPlace) return undefined;
  const read = machine.read(given);
  // Whoever awaits it gets a failure.
  read.catch(() => undefined);
  return read;
}

/** A watched run of a program on a machine of its own, which is there for the time of the run. */
export function programRun({
  program,
  options,
  args,
}: {
  readonly program: ProgramInMemory;
  readonly options: MachineOptions;
  readonly args: readonly HostInput[];
}): WatchedRun {
  return {
    run: async (onCall, watch) => {
      const { signal } = watch;
      const machine = await VirtualMachine.create(program, { ...options, replay: false, signal });
      try {
        await new MachineRun(machine, args).run(onCall, watch);
      } finally {
        machine.dispose();
      }
    },
  };
}

const isTensor = (value: unknown): value is TensorValue => value instanceof TensorValue;
