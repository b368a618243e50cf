import type { TimelineStorage } from '../../core/contracts/run-timeline.ts';
import type { DeviceEvent, KernelTiming } from '../../device/device.ts';
import type { HostInput } from '../link/host-function.ts';
import { observe } from '../observe/observe.ts';
import type { Value } from '../values/value.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import { type RecordedInstruction, RunRecorder } from './run-recorder.ts';

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
