import type {
  ConcreteTensorType,
  PrimitiveFunction,
} from '../../core/contracts/primitive-function.ts';
import type { CallInFlight } from '../calls/call-in-flight.ts';
import { KernelInstructions } from '../debug/kernel-instructions.ts';
import { runInstructions } from '../debug/run-instructions.ts';
import { resume } from '../interpreter.ts';
import type { RunHooks } from '../run-hooks.ts';
import { TensorValue, type Value } from '../values/value.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import type { RecordedPlace, StorageRecorder } from './storage-recorder.ts';

/** An instruction that was executed; times are those of `performance.now()`. */
export interface RecordedInstruction extends RecordedPlace {
  readonly call: RecordedCall | undefined;
  readonly beginMs: number;
  /** When it was over; of one that waits, when what it waited for was there. */
  endMs: number;
}

/** The types in the call of a kernel. */
export interface RecordedCall {
  readonly primitive: PrimitiveFunction;
  readonly inputs: readonly ConcreteTensorType[];
  /** Those that the call is given room for: others are there only once the kernel has run. */
  readonly results: readonly ConcreteTensorType[];
}

/** More are counted and not kept, lest a long loop fills the memory of the page. */
const MOST_INSTRUCTIONS = 50_000;
/** How long a run holds the thread before messages get their turn. */
const SLICE_MS = 50;

/** Drives the calls of a runner instruction by instruction, and notes when each began and ended. */
export class InstructionRecorder implements RunHooks {
  readonly mustInterpret = true;
  readonly instructions: RecordedInstruction[] = [];
  executed = 0;
  readonly #machine: VirtualMachine;
  readonly #storages: StorageRecorder;
  readonly #kernels: KernelInstructions;

  constructor(machine: VirtualMachine, storages: StorageRecorder) {
    this.#machine = machine;
    this.#storages = storages;
    this.#kernels = new KernelInstructions(machine.executable);
  }

  admission(): undefined {
    return undefined;
  }

  between(call: CallInFlight): Promise<void> | undefined {
    return call.invocation.isDone ? undefined : this.#slice(call);
  }

  ended(): void {
    this.#storages.place = undefined;
  }

  close(): void {
    // Nothing waits for it.
  }

  async #slice(call: CallInFlight): Promise<void> {
    const { invocation } = call;
    const { runner, state } = this.#machine.internals();
    const turn = await runner.turns?.take(call);
    let pending: Promise<Value> | undefined;
    let last: RecordedInstruction | undefined;
    try {
      const begin = performance.now();
      while (pending === undefined && !invocation.isDone && performance.now() - begin < SLICE_MS) {
        if (call.cancellation !== undefined) throw call.cancellation;
        last = this.#begin(call);
        pending = runInstructions(this.#machine, invocation, 1);
        if (last !== undefined) last.endMs = performance.now();
      }
    } finally {
      turn?.end();
    }
    if (pending === undefined) return call.pause();
    for (const { device } of state.allocators) device.flush();
    resume(invocation, await call.wait(pending));
    if (last !== undefined) last.endMs = performance.now();
    return undefined;
  }

  /** Undefined for an instruction that is not kept. */
  #begin({ invocation }: CallInFlight): RecordedInstruction | undefined {
    const frame = invocation.frames.at(-1);
    const instruction = frame?.function.code[frame.pc];
    this.executed++;
    if (frame === undefined || instruction === undefined || this.executed > MOST_INSTRUCTIONS) {
      return undefined;
    }
    const place: RecordedPlace = {
      name: this.#kernels.nameAt(instruction.codeIndex),
      at: { function: frame.function.source.name, instruction: frame.pc },
    };
    this.#storages.place = place;
    const launch = this.#kernels.next(frame, invocation.program.constants);
    const results = launch?.hasRoom === true ? launch.results() : [];
    for (const { storage } of results) this.#storages.written(storage, place);
    const recorded: RecordedInstruction = {
      ...place,
      call: launch && {
        primitive: launch.primitive,
        inputs: typesOf(launch.inputs),
        results: typesOf(results),
      },
      beginMs: performance.now(),
      endMs: 0,
    };
    this.instructions.push(recorded);
    return recorded;
  }
}

const typesOf = (values: readonly Value[]): readonly ConcreteTensorType[] =>
  values.flatMap((value) =>
    value instanceof TensorValue ? [{ dtype: value.dtype, shape: value.shape }] : [],
  );
