import type { Device, DeviceEvent } from '../../device/device.ts';
import type { StorageObserver } from '../allocator/allocator.ts';
import type { CallInFlight } from '../calls/call-in-flight.ts';
import { CallRunner } from '../calls/call-runner.ts';
import { resume, run } from '../interpreter.ts';
import type { Invocation } from '../invocation.ts';
import type { RunHooks } from '../run-hooks.ts';
import { RunControl } from '../snapshot/run-control.ts';
import type { Value } from '../values/value.ts';
import type { VirtualMachine } from '../virtual-machine.ts';

/** Observes what a machine and its devices do in a run. */
export interface RunObserver {
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
  /** Called for uploads, copies, readbacks and compilations of the devices, as they end. */
  readonly onDeviceEvent?: ((event: DeviceEvent) => void) | undefined;
  /** Called for the storages of the machine. */
  readonly storages?: StorageObserver | undefined;
}

/** A run that is observed. */
export interface ObservedRun {
  /** Takes the calls that are observed, beside those of the machine. They share its kernels, constants and memory. */
  readonly runner: CallRunner;
  /** Ends the observation of devices and allocators. */
  readonly stop: () => void;
}

/** Has an observer observe calls of a machine, each instruction of which is interpreted, its devices and allocators. */
export function observe(machine: VirtualMachine, observer: RunObserver): ObservedRun {
  const { linked, state, libraries, runner } = machine.internals();
  const devices = devicesOf(machine);
  const { onDeviceEvent, storages } = observer;
  if (onDeviceEvent !== undefined)
    for (const { events } of devices) events?.observers.add(onDeviceEvent);
  if (storages !== undefined) for (const { observers } of state.allocators) observers.add(storages);
  return {
    runner: new CallRunner(machine.executable, linked, {
      limits: runner.limits,
      devices,
      libraries,
      state,
      replay: false,
      hooks: new InstructionDriver(machine, observer),
    }),
    stop: () => {
      if (onDeviceEvent !== undefined)
        for (const { events } of devices) events?.observers.delete(onDeviceEvent);
      if (storages !== undefined)
        for (const { observers } of state.allocators) observers.delete(storages);
    },
  };
}

/** The devices of a machine, each once. */
export function devicesOf(machine: VirtualMachine): readonly Device[] {
  return [...new Set(machine.internals().state.allocators.map(({ device }) => device))];
}

/** How long a call holds the thread before messages get their turn. */
const SLICE_MS = 8;

/** Drives calls instruction by instruction, as an observer asks for it. */
class InstructionDriver implements RunHooks {
  readonly mustInterpret = true;
  readonly #machine: VirtualMachine;
  readonly #observer: RunObserver;
  /** When messages had their last turn. */
  #begin = performance.now();

  constructor(machine: VirtualMachine, observer: RunObserver) {
    this.#machine = machine;
    this.#observer = observer;
  }

  admission(): undefined {
    return undefined;
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

  close(): void {
    // Whoever observes ends its calls.
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
      const waits = this.#observer.after(invocation);
      if (waits !== undefined) return { waits };
    } while (!invocation.isDone && !this.#isLong);
    return {};
  }

  /** As {@link run} does. A breakpoint of whoever pauses the session is not one of this call. */
  #runInstructions(invocation: Invocation, count: number): Promise<Value> | undefined {
    const pending = run(invocation, count);
    const frame = invocation.frames.at(-1);
    if (!invocation.isBroken || frame === undefined) return pending;
    invocation.isBroken = false;
    const control = RunControl.of(this.#machine);
    return control.withoutBreakpoint(frame.function, frame.pc, () => run(invocation, 1));
  }
}

interface Slice {
  readonly pending?: Promise<Value> | undefined;
  readonly waits?: Promise<void> | undefined;
}
