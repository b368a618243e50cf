import type {
  ConcreteTensorType,
  PrimitiveFunction,
} from '../../core/contracts/primitive-function.ts';
import type { ExecutableData } from '../../bytecode/executable.ts';
import type { DeviceEvent } from '../../device/device.ts';
import type { Invocation } from '../invocation.ts';
import { KernelInstructions } from '../observe/kernel-instructions.ts';
import type { InstructionObserver } from '../observe/observe.ts';
import { TensorValue, type Value } from '../values/value.ts';
import { type RecordedPlace, StorageRecorder } from './storage-recorder.ts';

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
export class RunRecorder implements InstructionObserver {
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
