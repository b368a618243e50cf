import { Deferred } from '../../core/deferred.ts';
import type { DType } from '../../core/dtype.ts';
import { RuntimeError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { PrimitiveFunction } from '../../core/primitive-function.ts';
import type { Shape } from '../../core/shape.ts';
import { type TensorDifference, tensorDifference } from '../../core/tensor-difference.ts';
import type { HostInput } from '../host-function.ts';
import type { InstrumentedCall, MachineInstrument } from '../instrument-calls.ts';
import type { MachineOptions } from '../load-machine.ts';
import { TensorValue } from '../value.ts';
import { VirtualMachine } from '../virtual-machine.ts';
import { type KernelCall, KernelCalls, KernelInputs, sourceOf } from './kernel-results.ts';
import type { ProgramInMemory } from './widen-program.ts';

/** A run that is compared with another one. */
export interface ComparedRun {
  readonly program: ProgramInMemory;
  readonly options: MachineOptions;
  readonly args: readonly HostInput[];
}

export interface CompareOptions {
  /** The largest relative error that does not count. */
  readonly tolerance: number;
  readonly signal?: AbortSignal | undefined;
  /** Looks into a kernel that departs, given what it read, while both runs wait. */
  readonly lookInto?: LookIntoKernel | undefined;
}

/** Finds the first operator of a kernel that departs when its operators run one by one; undefined where none does. */
export type LookIntoKernel = (
  primitive: PrimitiveFunction,
  inputs: readonly HostTensor[],
  results: readonly Shape[],
) => Promise<OperatorDeparture | undefined>;

/** An operator within a kernel, run by itself on what the kernel read. */
export interface OperatorDeparture extends TensorDifference {
  /** The number of the operator among those of the kernel, from 0. */
  readonly index: number;
  /** Its name. */
  readonly operator: string;
  /** Its node of the model or line of the source; undefined where several operators of the kernel share few nodes. */
  readonly source: string | undefined;
}

/** A value that is further from the expected one than a tolerance. */
export interface ValueDeparture extends TensorDifference, KernelCall {
  /** The number of the call among all calls of kernels, from 0. */
  readonly call: number;
  /** The dtype of the value. */
  readonly dtype: DType;
  /** The shape of the value. */
  readonly shape: Shape;
  /**
   * Of a kernel of several operators: the first of them that departs when they run one by one, without fusion. Undefined
   * for other kernels, and where none departs by itself: then it is their fusion.
   */
  readonly unfused?: OperatorDeparture | undefined;
}

/** What a comparison of two runs has found. */
export interface RunComparison {
  /** The first value that departs; undefined where none does. */
  readonly departure: ValueDeparture | undefined;
  /** Calls of kernels whose results were compared. */
  readonly calls: number;
  /** The largest error until then, relative to the largest element of its value. */
  readonly largestError: number;
}

/**
 * Runs two programs of the same instructions side by side, and compares what each kernel gives: neither goes on before
 * both are there. Ends with the first value that departs. Results of what the program reads from outside (functions of
 * JavaScript) have to be the same in both. Rejects with RuntimeError where the two take different ways.
 */
export async function compareRuns(
  functionName: string,
  { tested, expected }: { readonly tested: ComparedRun; readonly expected: ComparedRun },
  { tolerance, signal, lookInto }: CompareOptions,
): Promise<RunComparison> {
  const meeting = new Meeting(tested.program, { tolerance, lookInto });
  const runs = [
    { run: tested, side: 0 as const },
    { run: expected, side: 1 as const },
  ].map(async ({ run, side }) => {
    try {
      const instrument = meeting.instrument(side);
      const options = { ...run.options, instrument, replay: false, signal };
      const machine = await VirtualMachine.create(run.program, options);
      meeting.join(side, machine);
      try {
        machine.release(await machine.invoke(functionName, run.args, { signal }));
      } finally {
        meeting.leave(side);
        await meeting.isOver;
        machine.dispose();
      }
    } catch (error) {
      meeting.leave(side);
      if (!isBecauseOf(error, meeting.stop)) throw error;
    }
  });
  const settled = await Promise.allSettled(runs);
  for (const each of settled) if (each.status === 'rejected') throw each.reason;
  return meeting.comparison;
}

/** Whether an error is another one, with a stack of the machine around it or not. */
function isBecauseOf(error: unknown, reason: Error): boolean {
  if (error === reason) return true;
  return error instanceof Error && isBecauseOf(error.cause, reason);
}

type Side = 0 | 1;

interface Arrival {
  readonly call: InstrumentedCall;
  readonly tensors: readonly TensorValue[];
  readonly goOn: () => void;
  readonly fail: (error: unknown) => void;
}

/** Where the runs wait for each other. */
class Meeting {
  /** Ends a run from within, once a value departs. */
  readonly stop = new Error('a value departs');
  readonly #kernels: KernelCalls;
  readonly #inputs = new KernelInputs();
  readonly #tolerance: number;
  readonly #lookInto: LookIntoKernel | undefined;
  readonly #machines: (VirtualMachine | undefined)[] = [undefined, undefined];
  readonly #waiting: (Arrival | undefined)[] = [undefined, undefined];
  readonly #isGone = [false, false];
  readonly #over = new Deferred();
  #departure: ValueDeparture | undefined;
  #calls = 0;
  #largestError = 0;

  constructor(
    program: ProgramInMemory,
    { tolerance, lookInto }: Pick<CompareOptions, 'tolerance' | 'lookInto'>,
  ) {
    this.#kernels = new KernelCalls(program);
    this.#tolerance = tolerance;
    this.#lookInto = lookInto;
  }

  get comparison(): RunComparison {
    return {
      departure: this.#departure,
      calls: this.#calls,
      largestError: this.#largestError,
    };
  }

  /** Resolves when neither run reads from the other any more. */
  get isOver(): Promise<void> {
    return this.#over.promise;
  }

  join(side: Side, machine: VirtualMachine): void {
    this.#machines[side] = machine;
  }

  leave(side: Side): void {
    this.#isGone[side] = true;
    const other = this.#waiting[1 - side];
    this.#waiting[1 - side] = undefined;
    if (other !== undefined) other.fail(this.#departure ? this.stop : parted(other.call));
    if (this.#isGone.every(Boolean)) this.#over.resolve();
  }

  instrument(side: Side): MachineInstrument {
    return {
      before: (call) => {
        const machine = this.#machines[side];
        const primitive = this.#kernels.primitiveOf(call);
        const isWanted = side === 0 && this.#lookInto !== undefined;
        if (isWanted && primitive && machine) this.#inputs.save(call, primitive, machine);
      },
      after: (call, result) => {
        const primitive = this.#kernels.primitiveOf(call);
        if (primitive === undefined) return undefined;
        const results = this.#kernels.resultsOf(call, primitive, result);
        const tensors = results.filter((value) => value instanceof TensorValue);
        return this.#arrive(side, call, tensors);
      },
    };
  }

  #arrive(side: Side, call: InstrumentedCall, tensors: readonly TensorValue[]): Promise<void> {
    return new Promise<void>((goOn, fail) => {
      this.#waiting[side] = { call, tensors, goOn, fail };
      const [tested, expected] = this.#waiting;
      if (this.#isGone[1 - side]) fail(this.#departure ? this.stop : parted(call));
      else if (tested !== undefined && expected !== undefined) void this.#meet(tested, expected);
    });
  }

  async #meet(tested: Arrival, expected: Arrival): Promise<void> {
    this.#waiting.fill(undefined);
    const both = [tested, expected];
    try {
      if (tested.call.name !== expected.call.name) throw parted(tested.call);
      await this.#compare(tested, expected);
      if (this.#departure !== undefined) throw this.stop;
      for (const { goOn } of both) goOn();
    } catch (error) {
      for (const { fail } of both) fail(error);
    }
  }

  async #compare(tested: Arrival, expected: Arrival): Promise<void> {
    const [got, wanted] = await Promise.all([
      this.#machines[0]?.read(tested.tensors) ?? [],
      this.#machines[1]?.read(expected.tensors) ?? [],
    ]);
    for (const [i, tensor] of got.entries()) {
      const want = wanted[i];
      if (want === undefined || !areAlike(tensor, want)) throw parted(tested.call);
      const difference = tensorDifference(tensor, want);
      this.#largestError = Math.max(this.#largestError, difference.relativeError);
      if (difference.relativeError <= this.#tolerance) continue;
      const { dtype, shape } = tensor;
      const call = this.#kernels.describe(tested.call);
      this.#departure ??= { ...difference, ...call, call: this.#calls, dtype, shape };
    }
    const departure = this.#departure;
    if (departure !== undefined) {
      const unfused = await this.#unfused(tested.call, got, departure);
      this.#departure = unfused === undefined ? departure : { ...departure, unfused };
    }
    this.#calls++;
  }

  /** Both runs wait meanwhile. */
  async #unfused(
    call: InstrumentedCall,
    results: readonly HostTensor[],
    { sources }: ValueDeparture,
  ): Promise<OperatorDeparture | undefined> {
    const primitive = this.#kernels.primitiveOf(call);
    const [machine] = this.#machines;
    if (primitive === undefined || primitive.body.length < 2) return undefined;
    if (machine === undefined || this.#lookInto === undefined) return undefined;
    const read = await this.#inputs.read(call, primitive, machine);
    const shapes = results.map(({ shape }) => shape);
    const found = await this.#lookInto(primitive, read, shapes);
    return found && { ...found, source: sourceOf(primitive, sources, found.index) };
  }
}

const areAlike = (a: HostTensor, b: HostTensor): boolean =>
  JSON.stringify(a.shape) === JSON.stringify(b.shape);

/** The two runs took different ways before any value departed. */
function parted({ name }: InstrumentedCall): RuntimeError {
  return new RuntimeError({
    where: `kernel ${name}`,
    got: 'a call in one of two runs',
    expected: 'the same call in both, since no value differs by more than the tolerance',
    remedy:
      'Compare with a smaller tolerance: a value that decides which way a program takes differs.',
  });
}
