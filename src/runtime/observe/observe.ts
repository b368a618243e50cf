import type { Device, DeviceEvent, KernelTiming } from '../../device/device.ts';
import type { StorageObserver } from '../allocator/allocator.ts';
import type { CallOutcome, Profile } from '../call.ts';
import type { CallInFlight } from '../calls/call-in-flight.ts';
import { CallRunner } from '../calls/call-runner.ts';
import { resume, run } from '../interpreter.ts';
import type { Invocation } from '../invocation.ts';
import type { OpenMachine } from '../link/load-machine.ts';
import type { Stepping } from '../run-hooks.ts';
import { release, type Value } from '../values/value.ts';

export interface InstructionObserver {
  /** A call is between two instructions: a promise holds it there. */
  hold?(call: CallInFlight): Promise<void> | undefined;
  /**
   * Called before the next instruction. Returns how many instructions run before {@link after} is called; 0 asks
   * {@link hold} again.
   */
  before(invocation: Invocation): number;
  /** Called once they are over and their values are there. The call goes on when a promise has resolved. */
  after(invocation: Invocation): Promise<void> | undefined;
  /** An instruction failed, or a promise of {@link after}; the frames are still there. */
  failed?(invocation: Invocation): void;
  /** A call is over, however it ended. */
  ended?(call: CallInFlight): void;
}

/** Observes what a machine and its devices do in a run. Without `instructions` the machine takes its calls as ever. */
export interface RunObserver {
  readonly instructions?: InstructionObserver | undefined;
  /** Called for uploads, copies, readbacks and compilations of the devices, as they end. */
  readonly onDeviceEvent?: ((event: DeviceEvent) => void) | undefined;
  readonly storages?: StorageObserver | undefined;
  /** Called when the run is over, with all launches of the devices, in order for each: GPUs tell their times then. */
  readonly onLaunches?: ((launches: readonly KernelTiming[]) => void) | undefined;
}

/** Has an observer observe a run, which makes its calls by the runner that it gets. Other calls in flight use the devices too. */
export async function observe<T>(
  machine: OpenMachine,
  { instructions, onDeviceEvent, storages, onLaunches }: RunObserver,
  run: (runner: CallRunner | undefined) => Promise<T>,
): Promise<T> {
  const { allocators } = machine.internals().state;
  const devices = devicesOf(machine);
  if (onDeviceEvent !== undefined)
    for (const { events } of devices) events?.observers.add(onDeviceEvent);
  if (storages !== undefined) for (const { observers } of allocators) observers.add(storages);
  const work = () => run(instructions && steppedRunner(machine, instructions));
  try {
    return await (onLaunches === undefined ? work() : timed(devices, work, onLaunches));
  } finally {
    if (onDeviceEvent !== undefined)
      for (const { events } of devices) events?.observers.delete(onDeviceEvent);
    if (storages !== undefined) for (const { observers } of allocators) observers.delete(storages);
  }
}

async function timed<T>(
  devices: readonly Device[],
  work: () => Promise<T>,
  onLaunches: NonNullable<RunObserver['onLaunches']>,
): Promise<T> {
  const stops = await Promise.all(devices.map((device) => device.startProfile()));
  const stop = () => Promise.all(stops.map((stopDevice) => stopDevice()));
  const value = await work().catch(async (error: unknown) => {
    await stop().catch(() => undefined);
    throw error;
  });
  onLaunches((await stop()).flat());
  return value;
}

/** Makes a call of a machine, and observes the launches of all its devices meanwhile. */
export async function profileCall(
  machine: OpenMachine,
  call: () => Promise<CallOutcome>,
): Promise<Profile> {
  let timings: readonly KernelTiming[] = [];
  let outcome: CallOutcome = { value: null, instructionCount: 0 };
  const onLaunches: RunObserver['onLaunches'] = (launches) => {
    timings = launches;
  };
  try {
    await observe(machine, { onLaunches }, async () => {
      outcome = await call();
    });
  } catch (error) {
    release(outcome.value);
    throw error;
  }
  return { result: outcome.value, timings, instructionCount: outcome.instructionCount };
}

/** Takes calls that are observed, beside those of the machine. They share its kernels, constants and memory. */
export function steppedRunner(machine: OpenMachine, observer: InstructionObserver): CallRunner {
  const { linked, state, libraries, runner } = machine.internals();
  return new CallRunner(machine.executable, linked, {
    limits: runner.limits,
    devices: devicesOf(machine),
    libraries,
    state,
    replay: false,
    stepping: new InstructionDriver(machine, observer, { passesBreakpoints: true }),
  });
}

export function devicesOf(machine: OpenMachine): readonly Device[] {
  return [...new Set(machine.internals().state.allocators.map(({ device }) => device))];
}

/** How long a call holds the thread before messages get their turn. */
const SLICE_MS = 8;

interface InstructionDriverOptions {
  /** Breakpoints are those of other calls: of whoever pauses the session. */
  readonly passesBreakpoints: boolean;
}

/** Drives calls instruction by instruction, as an observer asks for it. */
export class InstructionDriver implements Stepping {
  readonly #machine: OpenMachine;
  readonly #observer: InstructionObserver;
  readonly #passesBreakpoints: boolean;
  /** When messages had their last turn. */
  #begin = performance.now();

  constructor(
    machine: OpenMachine,
    observer: InstructionObserver,
    { passesBreakpoints }: InstructionDriverOptions,
  ) {
    this.#machine = machine;
    this.#observer = observer;
    this.#passesBreakpoints = passesBreakpoints;
  }

  between(call: CallInFlight): Promise<void> | undefined {
    if (call.invocation.isDone) return undefined;
    if (call.cancellation !== undefined) return Promise.reject(call.cancellation);
    const held = this.#observer.hold?.(call);
    return held === undefined ? this.#slice(call) : this.#held(held);
  }

  ended(call: CallInFlight): void {
    this.#observer.ended?.(call);
  }

  /** A call that stood holds the thread from now on. */
  async #held(until: Promise<void>): Promise<void> {
    await until;
    this.#begin = performance.now();
  }

  async #slice(call: CallInFlight): Promise<void> {
    const { invocation } = call;
    try {
      const { turns } = this.#machine.internals().runner;
      const turn = turns && (await turns.take(call));
      let { pending, waits }: Slice = {};
      try {
        // Cancelled as its turn came, it is not to run.
        if (call.cancellation === undefined) ({ pending, waits } = this.#run(invocation));
      } finally {
        turn?.end();
      }
      if (pending !== undefined) {
        // Devices work on what was launched while the program waits.
        for (const device of devicesOf(this.#machine)) device.flush();
        resume(invocation, await call.wait(pending));
        waits = this.#observer.after(invocation);
      }
      if (waits !== undefined) await call.wait(waits);
    } catch (error) {
      this.#observer.failed?.(invocation);
      throw error;
    }
    if (!this.#isLong || invocation.isDone) return;
    await call.pause();
    this.#begin = performance.now();
  }

  get #isLong(): boolean {
    return performance.now() - this.#begin > SLICE_MS;
  }

  /** Runs until a slice of time is over, or something has to be waited for. */
  #run(invocation: Invocation): Slice {
    do {
      const count = this.#observer.before(invocation);
      if (count === 0) break;
      const pending = this.#runInstructions(invocation, count);
      if (pending !== undefined) return { pending };
      // The instruction did not run yet.
      if (invocation.isBroken) break;
      const waits = this.#observer.after(invocation);
      if (waits !== undefined) return { waits };
    } while (!invocation.isDone && !this.#isLong);
    return {};
  }

  #runInstructions(invocation: Invocation, count: number): Promise<Value> | undefined {
    const pending = run(invocation, count);
    const frame = invocation.frames.at(-1);
    const { hooks } = this.#machine.internals().runner;
    if (!this.#passesBreakpoints || !invocation.isBroken || !frame || !hooks) return pending;
    invocation.isBroken = false;
    return hooks.withoutBreakpoint(frame.function, frame.pc, () => run(invocation, 1));
  }
}

interface Slice {
  readonly pending?: Promise<Value> | undefined;
  readonly waits?: Promise<void> | undefined;
}
