import type { Device, DeviceBuffer, RecordedLaunches } from '../../device/device.ts';
import type { CallOutcome } from '../call.ts';
import type { LinkedFunction } from '../link/linked-code.ts';
import { ResultTemplate, type TemplateContext } from './result-template.ts';
import { RunRecording } from './run-recording.ts';
import {
  hold,
  readerCount,
  release,
  retain,
  TensorValue,
  unhold,
  type Value,
} from '../values/value.ts';
import type { VmState } from '../vm-state.ts';

/** Signatures of calls that are remembered, the least recently used go first. */
const MAX_SIGNATURES = 32;
/** Recordings of one signature: results that are kept, and inputs, take turns in their buffers. */
const MAX_REPLAYS = 4;
/** Signatures that could not be recorded so often are not tried again. */
const MAX_FAILURES = 2;
const MAX_ARGUMENT_VALUES = 256;

/** A call that can be repeated without its code. */
interface Replay {
  readonly launches: RecordedLaunches;
  readonly inputs: readonly TensorPlace[];
  /** Buffers that must be free: what the call allocated. */
  readonly own: readonly DeviceBuffer[];
  readonly result: ResultTemplate;
  readonly instructionCount: number;
}

interface TensorPlace {
  readonly buffer: DeviceBuffer;
  readonly byteOffset: number;
}

interface Signature {
  readonly replays: Replay[];
  failures: number;
  isRecording: boolean;
}

export interface ReplayCounters {
  /** Calls whose code ran, recorded ones included. */
  readonly interpreted: number;
  readonly recorded: number;
  readonly replayed: number;
}

export interface PendingReplay {
  /** The caller owns one reference to the value, if all is enqueued. */
  readonly outcome: CallOutcome;
  readonly launches: RecordedLaunches;
  /** Call once nothing more is enqueued; `isComplete` if all was. */
  end(isComplete: boolean): void;
}

/** A call about to be interpreted and recorded. */
export interface PendingCall {
  readonly recording: RunRecording;
  /** Tells how the call ended; `outcome` is undefined after an error. */
  finish(outcome: CallOutcome | undefined): void;
}

/**
 * Repeats calls. The device work of a call depends only on the sizes and dtypes of its tensors, its
 * other arguments, and the buffers that the allocator hands out, as long as the code neither waits
 * for elements of a tensor nor calls the user's functions. A call whose signature was seen before
 * is recorded; later ones with the same buffers at hand enqueue the same launches.
 */
export class ReplayStore {
  readonly #state: VmState;
  readonly #devices: readonly Device[];
  readonly #extendsTensors: boolean;
  readonly #signatures = new Map<string, Signature>();
  #recorded = 0;
  #replayed = 0;

  constructor(state: VmState, devices: readonly Device[]) {
    this.#state = state;
    this.#devices = devices;
    this.#extendsTensors = state.growing !== undefined;
  }

  get recorded(): number {
    return this.#recorded;
  }

  get replayed(): number {
    return this.#replayed;
  }

  /** A call that can be enqueued again, at once or in batches with others in between. */
  find(
    callee: LinkedFunction,
    args: readonly Value[],
    { inTurns }: { readonly inTurns: boolean },
  ): PendingReplay | undefined {
    if (this.#signatures.size === 0) return undefined;
    const key = signatureKey(callee, args, this.#extendsTensors);
    const signature = key === undefined ? undefined : this.#signatures.get(key);
    if (key === undefined || signature === undefined) return undefined;
    const argumentTensors = tensorsIn(args);
    const replay = signature.replays.find((candidate) => this.#fits(candidate, argumentTensors));
    if (replay === undefined) return undefined;
    const { launches, result, own, instructionCount } = replay;
    const context = this.#context(argumentTensors);
    const value = result.make(context);
    retain(value);
    // Work between two batches must not get the buffers that the call works in.
    const free = inTurns ? own.filter((buffer) => !result.storages.has(buffer)) : [];
    const held: Value[] = free.map((buffer) => context.allocator.take(buffer, buffer.byteLength));
    for (const storage of held) retain(storage);
    return {
      outcome: { value, instructionCount },
      launches,
      end: (isComplete) => {
        for (const storage of held) release(storage);
        if (isComplete) this.#replayed++;
        else release(value);
      },
    };
  }

  /** Call before a call is interpreted. Undefined where it is not recorded. */
  begin(callee: LinkedFunction, args: readonly Value[]): PendingCall | undefined {
    const key = signatureKey(callee, args, this.#extendsTensors);
    if (key === undefined) return undefined;
    const signature = this.#signatures.get(key);
    if (signature === undefined) {
      this.#remember(key, { replays: [], failures: 0, isRecording: false });
      return undefined;
    }
    this.#remember(key, signature);
    if (signature.isRecording || signature.failures >= MAX_FAILURES) return undefined;
    const recording = new RunRecording(this.#devices);
    if (!recording.isUnderWay) return undefined;
    signature.isRecording = true;
    recording.pause();
    // No argument's buffer may serve the call itself: it may belong to somebody else next time.
    for (const arg of args) hold(arg);
    return {
      recording,
      finish: (outcome) => {
        signature.isRecording = false;
        const replay = this.#replay(recording, tensorsIn(args), outcome);
        if (replay !== undefined) this.#keep(key, signature, replay);
        else if (outcome !== undefined) signature.failures++;
        for (const arg of args) unhold(arg);
      },
    };
  }

  dispose(): void {
    for (const signature of this.#signatures.values()) dropReplays(signature);
    this.#signatures.clear();
  }

  #context(argumentTensors: readonly TensorValue[]): TemplateContext {
    const { fields: count } = this.#state;
    return { argumentTensors, allocator: this.#state.allocator(0), count };
  }

  #fits({ launches, inputs, own }: Replay, tensors: readonly TensorValue[]): boolean {
    const allocator = this.#state.allocator(0);
    return (
      launches.isUsable() &&
      inputs.every(
        ({ buffer, byteOffset }, i) =>
          tensors[i]?.buffer === buffer && tensors[i].byteOffset === byteOffset,
      ) &&
      own.every((buffer) => allocator.isFree(buffer))
    );
  }

  #replay(
    recording: RunRecording,
    argumentTensors: readonly TensorValue[],
    outcome: CallOutcome | undefined,
  ): Replay | undefined {
    if (outcome === undefined) {
      recording.abandon();
      return undefined;
    }
    const launches = recording.finish();
    if (launches === undefined) return undefined;
    const allocator = this.#state.allocator(0);
    const result = ResultTemplate.of(outcome.value, this.#context(argumentTensors));
    if (result === undefined) {
      launches.dispose();
      return undefined;
    }
    const inputs = argumentTensors.map(({ buffer, byteOffset }) => ({ buffer, byteOffset }));
    const given = new Set(inputs.map(({ buffer }) => buffer));
    const own = [...new Set([...launches.buffers, ...result.storages.keys()])].filter(
      (buffer) => allocator.owns(buffer) && !given.has(buffer),
    );
    const { instructionCount } = outcome;
    return { launches, inputs, own, result, instructionCount };
  }

  #keep(key: string, signature: Signature, replay: Replay): void {
    if (this.#signatures.get(key) !== signature) return replay.launches.dispose();
    this.#recorded++;
    signature.failures = 0;
    signature.replays.unshift(replay);
    if (signature.replays.length > MAX_REPLAYS) signature.replays.pop()?.launches.dispose();
  }

  /** Makes the signature the most recently used one. */
  #remember(key: string, signature: Signature): void {
    this.#signatures.delete(key);
    this.#signatures.set(key, signature);
    if (this.#signatures.size <= MAX_SIGNATURES) return;
    for (const [oldest, dropped] of this.#signatures) {
      dropReplays(dropped);
      this.#signatures.delete(oldest);
      return;
    }
  }
}

function dropReplays({ replays }: Signature): void {
  for (const { launches } of replays) launches.dispose();
  replays.length = 0;
}

/**
 * All that a call depends on but elements; undefined when it depends on more. `extendsTensors`: it may append to those
 * that it owns.
 */
function signatureKey(
  callee: LinkedFunction,
  args: readonly Value[],
  extendsTensors: boolean,
): string | undefined {
  let key = `${callee.index}`;
  let valueCount = 0;
  const add = (value: Value): boolean => {
    if (++valueCount > MAX_ARGUMENT_VALUES) return false;
    if (typeof value !== 'object' || value === null) {
      key += typeof value === 'string' ? `;${JSON.stringify(value)}` : `;${value}`;
      return true;
    }
    switch (value.kind) {
      case 'float':
        key += Object.is(value.value, -0) ? ';f-0' : `;f${value.value}`;
        return true;
      case 'shape':
        key += `;(${value.dims.join()})`;
        return true;
      case 'dtype':
        key += `;${value.dtype}`;
        return true;
      case 'tensor':
        key += `;${value.dtype}[${value.shape.join()}]${value.layout}`;
        // The call may change it in place: nobody but the call's own registers will read it.
        if (readerCount(value.storage) === 0) key += `*${extendsTensors && roomOf(value)}`;
        // Control flow may depend on elements that the host reads, which nobody tells of.
        return value.storage.device.kind !== 'host';
      case 'adt':
        key += `;<${value.tag},${value.fields.length}`;
        return value.fields.every(add);
      default:
        return false;
    }
  };
  return args.every(add) ? key : undefined;
}

/**
 * The key of how a call would extend a tensor that it owns: bytes from there to the end of the
 * storage, and whether that was moved to be extended.
 */
function roomOf({ storage, byteOffset }: TensorValue): string {
  return `${storage.byteOffset + storage.byteLength - byteOffset}${storage.isGrowing}`;
}

function tensorsIn(args: readonly Value[]): TensorValue[] {
  const tensors: TensorValue[] = [];
  const visit = (value: Value): void => {
    if (value instanceof TensorValue) tensors.push(value);
    else if (typeof value === 'object' && value?.kind === 'adt') value.fields.forEach(visit);
  };
  args.forEach(visit);
  return tensors;
}
