import type { TimelineStorage } from '../../core/contracts/run-timeline.ts';
import type { DeviceEvent, KernelTiming } from '../../device/device.ts';
import type { HostInput } from '../link/host-function.ts';
import { observe, type InstructionObserver } from '../observe/observe.ts';
import { type Value, TensorValue, type StorageValue } from '../values/value.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import type {
  ConcreteTensorType,
  PrimitiveFunction,
} from '../../core/contracts/primitive-function.ts';
import type { ExecutableData } from '../../bytecode/executable.ts';
import type { Invocation } from '../invocation.ts';
import { KernelInstructions } from '../observe/kernel-instructions.ts';
import type { CodePlace } from '../../core/contracts/paused-call.ts';
import type { StorageObserver } from '../allocator/allocator.ts';

interface RecordedPlace {
  readonly name: string;
  readonly at: CodePlace;
}

type OpenStorage = { -readonly [K in keyof TimelineStorage]: TimelineStorage[K] } & {
  order: [allocated: number, givenBack: number];
};

/** Storages that are recorded; those after them are not kept. */
const MOST_STORAGES = 50_000;

/** Notes which storages a run allocates, what writes them first, and when they are given back. Times are those of `performance.now()`. */
class StorageRecorder implements StorageObserver {
  readonly storages: OpenStorage[] = [];
  /** While an instruction runs. */
  place: RecordedPlace | undefined;
  readonly #open = new Map<StorageValue, OpenStorage>();
  /** Those that nothing has written yet. */
  readonly #unwritten = new Set<StorageValue>();
  #changes = 0;

  /** A kernel writes to a storage. */
  written(storage: StorageValue, { name, at }: RecordedPlace): void {
    const open = this.#open.get(storage);
    if (open === undefined || !this.#unwritten.delete(storage)) return;
    open.name = name;
    open.at = at;
  }

  /** Those that are held still end now. */
  stop(): void {
    for (const storage of this.#open.keys()) this.reclaimed(storage);
  }

  allocated(storage: StorageValue): void {
    if (this.storages.length >= MOST_STORAGES) return;
    const { name, at } = this.place ?? {};
    const [device, bytes] = [storage.device.info.name, storage.buffer.byteLength];
    const beginMs = performance.now();
    const order: OpenStorage['order'] = [this.#changes++, 0];
    const open = { device, name, at, bytes, beginMs, endMs: 0, order };
    this.storages.push(open);
    this.#open.set(storage, open);
    this.#unwritten.add(storage);
  }

  reclaimed(storage: StorageValue): void {
    const open = this.#open.get(storage);
    if (open === undefined) return;
    open.endMs = performance.now();
    open.order[1] = this.#changes++;
    this.#open.delete(storage);
    this.#unwritten.delete(storage);
  }
}

/** An instruction that was executed; times are those of `performance.now()`. */
export interface RecordedInstruction extends RecordedPlace {
  readonly call: RecordedCall | undefined;
  readonly beginMs: number;
  /** When it was over; of one that waits, when what it waited for was there. */
  endMs: number;
}

export interface RecordedCall {
  readonly primitive: PrimitiveFunction;
  readonly inputs: readonly ConcreteTensorType[];
  /** Those that the call is given room for: others are there only once the kernel has run. */
  readonly results: readonly ConcreteTensorType[];
}

/** More are counted and not kept, lest a long loop fills the memory of the page. */
const MOST_INSTRUCTIONS = 50_000;

/** Notes when each instruction began and ended, what devices did, and which storages were in use. */
class RunRecorder implements InstructionObserver {
  readonly instructions: RecordedInstruction[] = [];
  readonly events: DeviceEvent[] = [];
  readonly storages = new StorageRecorder();
  executed = 0;
  readonly #kernels: KernelInstructions;
  #last: RecordedInstruction | undefined;

  constructor(program: ExecutableData) {
    this.#kernels = new KernelInstructions(program);
  }

  readonly onDeviceEvent = (event: DeviceEvent): void => void this.events.push(event);

  before(invocation: Invocation): number {
    this.#last = this.#begin(invocation);
    return 1;
  }

  after(): undefined {
    if (this.#last !== undefined) this.#last.endMs = performance.now();
  }

  ended(): void {
    this.storages.place = undefined;
  }

  /** Undefined for an instruction that is not kept. */
  #begin(invocation: Invocation): RecordedInstruction | undefined {
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
    this.storages.place = place;
    const launch = this.#kernels.next(frame, invocation.program.constants);
    const results = launch?.hasRoom === true ? launch.results() : [];
    for (const { storage } of results) this.storages.written(storage, place);
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

/** A run as it was recorded; times are those of `performance.now()`. */
export interface RecordedRun {
  readonly beginMs: number;
  readonly endMs: number;
  readonly instructions: readonly RecordedInstruction[];
  /** Instructions that were executed, also those that were not kept. */
  readonly executed: number;
  readonly launches: readonly KernelTiming[];
  /** Uploads, copies and readbacks of the devices, and pipelines that were compiled. */
  readonly events: readonly DeviceEvent[];
  readonly storages: readonly TimelineStorage[];
}

interface RecordOptions {
  readonly functionName: string;
  readonly inputs: readonly HostInput[];
  readonly signal: AbortSignal;
  /** Takes the result over, and reads what the page would get. */
  readonly deliver: (result: Value) => Promise<unknown>;
}

/**
 * Calls a function of a machine, and records what its instructions and its devices do when. Other calls
 * in flight are recorded with it. Each kernel runs by itself, as in a profile.
 */
export async function recordRun(
  machine: VirtualMachine,
  { functionName, inputs, signal, deliver }: RecordOptions,
): Promise<RecordedRun> {
  const recorder = new RunRecorder(machine.executable);
  const { storages, onDeviceEvent } = recorder;
  let launches: readonly KernelTiming[] = [];
  let [beginMs, endMs] = [0, 0];
  const observer = {
    instructions: recorder,
    onDeviceEvent,
    storages,
    onLaunches: (all: readonly KernelTiming[]): void => {
      launches = all;
      storages.stop();
    },
  };
  await observe(machine, observer, async (runner) => {
    beginMs = performance.now();
    await deliver(await machine.invoke(functionName, inputs, { signal, runner }));
    endMs = performance.now();
  });
  const { instructions, executed, events } = recorder;
  return { beginMs, endMs, instructions, executed, launches, events, storages: storages.storages };
}
