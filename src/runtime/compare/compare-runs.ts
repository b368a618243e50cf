import type { ExecutableData } from '../../bytecode/executable.ts';
import type { DType } from '../../core/tensor/dtype.ts';
import { RuntimeError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import { type TensorDifference, tensorDifference } from '../../core/tensor/tensor-difference.ts';
import { type KernelCall, KernelCalls, sourceOf } from './kernel-calls.ts';
import type { WatchedCall, WatchedRun } from './watched-run.ts';

/** A program, and two runs of its instructions. */
interface ComparedRuns {
  readonly program: ExecutableData;
  readonly tested: WatchedRun;
  readonly expected: WatchedRun;
}

interface CompareOptions {
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
  readonly operator: string;
  /** Its node of the model or line of the source; undefined where several operators of the kernel share few nodes. */
  readonly source: string | undefined;
}

/** A value that is further from the expected one than a tolerance. */
export interface ValueDeparture extends TensorDifference, KernelCall {
  /** The number of the call among all calls of kernels, from 0. */
  readonly call: number;
  readonly dtype: DType;
  readonly shape: Shape;
  /**
   * Of a kernel of several operators: the first of them that departs when they run one by one, without fusion. Undefined
   * for other kernels, and where none departs by itself: then it is their fusion.
   */
  readonly unfused?: OperatorDeparture | undefined;
}

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
  { program, tested, expected }: ComparedRuns,
  { tolerance, signal, lookInto }: CompareOptions,
): Promise<RunComparison> {
  const meeting = new Meeting(program, { tolerance, lookInto });
  const runs = [
    { run: tested, side: 0 as const },
    { run: expected, side: 1 as const },
  ].map(async ({ run, side }) => {
    const keepsInputs = side === 0 && lookInto !== undefined;
    try {
      await run.run((call) => meeting.arrive(side, call), {
        functionName,
        keepsInputs,
        readsResults: true,
        signal,
      });
      meeting.leave(side);
    } catch (error) {
      meeting.leave(side);
      if (!isBecauseOf(error, meeting.stop)) throw error;
    }
  });
  const settled = await Promise.allSettled(runs);
  const reasons = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  // That a run is alone is only what the failure of the other one leads to.
  const reason = reasons.find((each) => !meeting.isAlone(each)) ?? reasons[0];
  if (reason !== undefined) throw reason;
  return meeting.comparison;
}

/**
 * Returns true if an error is `reason`, or has it among its causes, as an error with a stack of the
 * machine does.
 */
function isBecauseOf(error: unknown, reason: Error): boolean {
  if (error === reason) return true;
  return error instanceof Error && isBecauseOf(error.cause, reason);
}

type Side = 0 | 1;

interface Arrival {
  readonly call: WatchedCall;
  readonly goOn: () => void;
  readonly fail: (error: unknown) => void;
}

/** Holds each run at a call until the other has come to it, and compares their values. */
class Meeting {
  /** Ends a run from within, once a value departs. */
  readonly stop = new Error('a value departs');
  readonly #kernels: KernelCalls;
  readonly #tolerance: number;
  readonly #lookInto: LookIntoKernel | undefined;
  readonly #waiting: (Arrival | undefined)[] = [undefined, undefined];
  readonly #isGone = [false, false];
  readonly #parted = new Set<Error>();
  #departure: ValueDeparture | undefined;
  #calls = 0;
  #largestError = 0;

  constructor(
    program: ExecutableData,
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

  /** Returns true if an error only tells that the other run went another way, or ended. */
  isAlone(error: unknown): boolean {
    return [...this.#parted].some((parted) => isBecauseOf(error, parted));
  }

  leave(side: Side): void {
    this.#isGone[side] = true;
    const other = this.#waiting[1 - side];
    this.#waiting[1 - side] = undefined;
    if (other !== undefined) other.fail(this.#leftAlone(other.call));
  }

  arrive(side: Side, call: WatchedCall): Promise<void> {
    return new Promise<void>((goOn, fail) => {
      this.#waiting[side] = { call, goOn, fail };
      const [tested, expected] = this.#waiting;
      if (this.#isGone[1 - side]) fail(this.#leftAlone(call));
      else if (tested !== undefined && expected !== undefined) void this.#meet(tested, expected);
    });
  }

  #leftAlone(call: WatchedCall): Error {
    return this.#departure ? this.stop : this.#part(call);
  }

  #part(call: WatchedCall): Error {
    const error = parted(call);
    this.#parted.add(error);
    return error;
  }

  async #meet(tested: Arrival, expected: Arrival): Promise<void> {
    this.#waiting.fill(undefined);
    const both = [tested, expected];
    try {
      if (tested.call.kernel !== expected.call.kernel) throw this.#part(tested.call);
      await this.#compare(tested.call, expected.call);
      if (this.#departure !== undefined) throw this.stop;
      for (const { goOn } of both) goOn();
    } catch (error) {
      for (const { fail } of both) fail(error);
    }
  }

  async #compare(tested: WatchedCall, expected: WatchedCall): Promise<void> {
    const [got, wanted] = await Promise.all([tested.results(), expected.results()]);
    for (const [i, tensor] of got.entries()) {
      const want = wanted[i];
      if (want === undefined || !areAlike(tensor, want)) throw this.#part(tested);
      const difference = tensorDifference(tensor, want);
      this.#largestError = Math.max(this.#largestError, difference.relativeError);
      if (difference.relativeError <= this.#tolerance) continue;
      const { dtype, shape } = tensor;
      const call = this.#kernels.describe(tested);
      this.#departure ??= { ...difference, ...call, call: this.#calls, dtype, shape };
    }
    const departure = this.#departure;
    if (departure !== undefined) {
      const unfused = await this.#unfused(tested, got, departure);
      this.#departure = unfused === undefined ? departure : { ...departure, unfused };
    }
    this.#calls++;
  }

  /** Both runs wait meanwhile. */
  async #unfused(
    call: WatchedCall,
    results: readonly HostTensor[],
    { sources }: ValueDeparture,
  ): Promise<OperatorDeparture | undefined> {
    const primitive = this.#kernels.primitive(call.kernel);
    if (primitive === undefined || primitive.body.length < 2) return undefined;
    if (this.#lookInto === undefined) return undefined;
    const shapes = results.map(({ shape }) => shape);
    const found = await this.#lookInto(primitive, await call.inputs(), shapes);
    return found && { ...found, source: sourceOf(primitive, sources, found.index) };
  }
}

const areAlike = (a: HostTensor, b: HostTensor): boolean =>
  JSON.stringify(a.shape) === JSON.stringify(b.shape);

/** The two runs took different ways before any value departed. */
function parted({ kernel }: WatchedCall): RuntimeError {
  return new RuntimeError({
    where: `kernel ${kernel}`,
    got: 'a call in one of two runs',
    expected: 'the same call in both, since no value differs by more than the tolerance',
    remedy:
      'Compare with a smaller tolerance: a value that decides which way a program takes differs.',
  });
}
