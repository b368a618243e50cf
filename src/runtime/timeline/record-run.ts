import type {
  TimelineEvent,
  TimelineKind,
  TimelineStorage,
} from '../../core/contracts/run-timeline.ts';
import { shadowMethod } from '../../core/shadow-method.ts';
import type { Device, DeviceRange, KernelTiming } from '../../device/device.ts';
import { CallRunner } from '../calls/call-runner.ts';
import type { HostInput } from '../host-function.ts';
import { profileCall } from '../profile-call.ts';
import type { Value } from '../value.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import { InstructionRecorder, type RecordedInstruction } from './instruction-recorder.ts';
import { StorageRecorder } from './storage-recorder.ts';

/** Hears of an event; times are those of `performance.now()`. */
type HearEvent = (event: TimelineEvent) => void;

/**
 * Tells of what a device is asked for beside launches, until the function that it returns is called: uploads, copies and reads.
 * Uploads and copies of WebGPU take the time of handing them over, since its queue tells nothing of them.
 */
function recordDevice(device: Device, hear: HearEvent): () => void {
  const { name } = device.info;
  const note = (kind: TimelineKind, bytes: number, beginMs: number): void =>
    hear({ kind, name, bytes, beginMs, endMs: performance.now() });
  const stops = [
    shadowMethod(device, 'write', (write) => (buffer, byteOffset, bytes) => {
      const begin = performance.now();
      write(buffer, byteOffset, bytes);
      note('upload', bytes.byteLength, begin);
    }),
    shadowMethod(device, 'copy', (copy) => (from, to) => {
      const begin = performance.now();
      copy(from, to);
      note('copy', from.byteLength, begin);
    }),
    shadowMethod(device, 'read', (read) => async (ranges, room) => {
      const begin = performance.now();
      try {
        return await read(ranges, room);
      } finally {
        note('readback', totalLength(ranges), begin);
      }
    }),
    shadowMethod(device, 'readSync', (readSync) => (range) => {
      const begin = performance.now();
      const bytes = readSync(range);
      if (bytes !== undefined) note('readback', bytes.byteLength, begin);
      return bytes;
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

const totalLength = (ranges: readonly DeviceRange[]): number =>
  ranges.reduce((sum, { byteLength }) => sum + byteLength, 0);

/** A run as it was recorded; times are those of `performance.now()`. */
export interface RecordedRun {
  readonly beginMs: number;
  readonly endMs: number;
  readonly instructions: readonly RecordedInstruction[];
  /** Instructions that were executed, also those that were not kept. */
  readonly executed: number;
  readonly launches: readonly KernelTiming[];
  /** Uploads, copies and readbacks of the devices, and pipelines that were compiled. */
  readonly events: readonly TimelineEvent[];
  readonly storages: readonly TimelineStorage[];
}

export interface RecordOptions {
  readonly functionName: string;
  readonly inputs: readonly HostInput[];
  readonly signal: AbortSignal;
  /** Takes the result over, and reads what the page would get. */
  readonly deliver: (result: Value) => Promise<unknown>;
}

/**
 * Calls a function of a machine, and records what its instructions and its devices do when. Methods of the devices and allocators
 * are shadowed meanwhile: other calls in flight are recorded with it. Each kernel runs by itself, as in a profile.
 */
export async function recordRun(
  machine: VirtualMachine,
  { functionName, inputs, signal, deliver }: RecordOptions,
): Promise<RecordedRun> {
  const { linked, state, libraries, runner: own } = machine.internals();
  const devices = [...new Set(state.allocators.map(({ device }) => device))];
  const runner = new CallRunner(machine.executable, linked, {
    limits: own.limits,
    devices,
    libraries,
    state,
    replay: false,
  });
  const events: TimelineEvent[] = [];
  const storages = new StorageRecorder(state.allocators);
  const recorder = new InstructionRecorder(machine, storages);
  runner.hooks = recorder;
  const stops = devices.map((device) => recordDevice(device, (event) => events.push(event)));
  let [beginMs, endMs] = [0, 0];
  const call = async () => {
    beginMs = performance.now();
    await deliver(await machine.invoke(functionName, inputs, { signal, runner }));
    endMs = performance.now();
    return { value: null, instructionCount: recorder.executed };
  };
  try {
    const { timings } = await profileCall(state.allocators, call, ({ label, ...times }) =>
      events.push({ kind: 'compile', name: label, ...times }),
    );
    storages.stop();
    const { instructions, executed } = recorder;
    return {
      beginMs,
      endMs,
      instructions,
      executed,
      launches: timings,
      events,
      storages: storages.storages,
    };
  } finally {
    storages.stop();
    for (const stop of stops) stop();
  }
}
