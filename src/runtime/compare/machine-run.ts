import { internalError } from '../../core/errors.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import type { ExecutableData } from '../../bytecode/executable.ts';
import type { CallOutcome } from '../call.ts';
import type { CallRequest } from '../calls/admission.ts';
import { CallRunner, type CallRunnerOptions } from '../calls/call-runner.ts';
import type { HostInput } from '../link/host-function.ts';
import {
  type InstrumentedCall,
  InstrumentedCalls,
  type MachineInstrument,
} from '../profile/instrument-calls.ts';
import { link, type LinkedProgram } from '../link/link.ts';
import type { MachineOptions } from '../link/load-machine.ts';
import { handOver, release, retain, TensorValue, type Value } from '../values/value.ts';
import { VirtualMachine } from '../virtual-machine.ts';
import { KernelCalls, KernelInputs } from './kernel-results.ts';
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
    const kernels = new KernelCalls(machine.executable);
    const inputs = new KernelInputs();
    const waiting = new Set<Promise<void>>();
    const wait = async (
      call: InstrumentedCall,
      primitive: PrimitiveFunction,
      result: Value,
    ): Promise<void> => {
      const results = kernels.resultsOf(call, primitive, result).filter(isTensorValue);
      // An aborted run drops them, also while they are read. Nobody has the result yet.
      for (const value of [...call.args, result]) retain(value);
      let isTaken = false;
      try {
        // By then the machine waits, and knows where.
        await Promise.resolve();
        await onCall({
          kernel: call.name,
          at: call.place(),
          results: () => machine.read(results),
          inputs: () => inputs.read(call, primitive, machine),
        });
        isTaken = signal?.aborted !== true;
      } finally {
        for (const value of call.args) release(value);
        if (isTaken) handOver(result);
        else release(result);
      }
    };
    const instrument: MachineInstrument = {
      before: (call) => {
        const primitive = keepsInputs ? kernels.primitiveOf(call) : undefined;
        if (primitive !== undefined) inputs.save(call, primitive, machine);
      },
      after: (call, result) => {
        const primitive = kernels.primitiveOf(call);
        if (primitive === undefined || result === undefined) return undefined;
        const waits = wait(call, primitive, result);
        waiting.add(waits);
        return waits.finally(() => waiting.delete(waits));
      },
    };
    try {
      const runner = instrumentedRunner(machine, instrument);
      machine.release(await machine.invoke(functionName, this.#args, { signal, runner }));
    } finally {
      // Whoever owns the machine may dispose of it next.
      await Promise.allSettled(waiting);
    }
  }
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

/** Runs functions of a machine in another linked form. */
class RelinkedRunner extends CallRunner {
  readonly #linked: LinkedProgram;

  constructor(program: ExecutableData, linked: LinkedProgram, options: CallRunnerOptions) {
    super(program, linked, options);
    this.#linked = linked;
  }

  override call(request: CallRequest): Promise<CallOutcome> {
    const callee = this.#linked.functions[request.callee.index] ?? request.callee;
    return super.call({ ...request, callee });
  }
}

/** Takes calls of a machine's functions with hooks around what they call. */
function instrumentedRunner(machine: VirtualMachine, instrument: MachineInstrument): CallRunner {
  const { executable } = machine;
  const { runner, state, libraries, constants } = machine.internals();
  const [builtins, hostFunctions] = libraries.slice(-2);
  if (builtins === undefined || hostFunctions === undefined) throw internalError('no builtins');
  const calls = new InstrumentedCalls(instrument, state);
  const linked = link(executable, {
    ...calls.libraries({ kernelLibraries: libraries.slice(0, -2), builtins, hostFunctions }),
    constants: constants.values,
    machine,
  });
  return new RelinkedRunner(executable, linked, {
    limits: runner.limits,
    devices: [...new Set(state.allocators.map(({ device }) => device))],
    libraries,
    state,
    replay: false,
    invocation: calls.invocation,
  });
}

const isTensorValue = (value: Value): value is TensorValue => value instanceof TensorValue;
