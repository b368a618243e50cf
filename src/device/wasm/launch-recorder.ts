import type { DeviceBuffer, DeviceRange, LaunchRecording, RecordedLaunches } from '../device.ts';
import type { ProcessorDevice } from '../host/processor-device.ts';
import type { WasmBuffer, WasmMemory } from './memory/wasm-memory.ts';

/** A recording beyond these is not worth its memory, or its time without a yield point. */
const MAX_STEPS = 4096;
const MAX_WRITE_BYTE_LENGTH = 64 * 1024;

/** The machine that launches are recorded on, with the recording under way. */
export interface RecordedMachine {
  readonly memory: Pick<WasmMemory, 'scratchMoves'>;
  recording: LaunchRecorder | undefined;
}

/** The members of its device that a recording uses. */
type RecordedDevice = Pick<ProcessorDevice, 'isProfiled' | 'launched' | 'copy' | 'write'>;

/** Steps of kernels with their addresses, copies and writes in order. */
export class LaunchRecorder implements LaunchRecording, RecordedLaunches {
  launchCount = 0;
  readonly buffers = new Set<DeviceBuffer>();

  readonly #machine: RecordedMachine;
  readonly #device: RecordedDevice;
  readonly #steps: (() => void)[] = [];
  readonly #users = new Set<WasmBuffer>();
  /** See {@link WasmMemory.scratchMoves}; undefined until something was recorded. */
  #scratchMoves: number | undefined;
  #writeByteLength = 0;
  #isInvalid = false;

  constructor(machine: RecordedMachine, device: RecordedDevice) {
    this.#machine = machine;
    this.#device = device;
  }

  pause(): void {
    if (this.#machine.recording === this) this.#machine.recording = undefined;
  }

  resume(): void {
    // Another recording has begun meanwhile: what happens from now on goes there.
    if (this.#machine.recording !== undefined && this.#machine.recording !== this)
      this.invalidate();
    else if (!this.#isInvalid) this.#machine.recording = this;
  }

  /** Something happens that cannot be repeated. */
  readonly invalidate = (): void => {
    this.pause();
    this.dispose();
  };

  finish(): RecordedLaunches | undefined {
    this.pause();
    // Steps before temporary memory moved were recorded with places where it is no more.
    if (this.#scratchMoves !== undefined && !this.#hasSameScratch()) this.invalidate();
    return this.#isInvalid ? undefined : this;
  }

  /** A kernel begins to work with these. */
  addLaunch(tensors: Iterable<WasmBuffer>): void {
    this.launchCount++;
    this.#scratchMoves ??= this.#machine.memory.scratchMoves;
    for (const buffer of tensors) this.#use(buffer);
  }

  /** A step, which does the same to the same places each time. */
  addStep(run: () => void): void {
    if (this.#steps.length >= MAX_STEPS) return this.invalidate();
    this.#steps.push(run);
  }

  addCopy(from: DeviceRange, to: DeviceRange): void {
    this.addStep(() => this.#device.copy(from, to));
    this.#use(from.buffer as WasmBuffer);
    this.#use(to.buffer as WasmBuffer);
  }

  addWrite(target: DeviceRange, bytes: Uint8Array): void {
    this.#writeByteLength += bytes.byteLength;
    if (this.#writeByteLength > MAX_WRITE_BYTE_LENGTH) return this.invalidate();
    const copied = bytes.slice();
    this.addStep(() => this.#device.write(target.buffer, target.byteOffset, copied));
    this.#use(target.buffer as WasmBuffer);
  }

  isUsable(): boolean {
    if (this.#isInvalid || this.#machine.recording !== undefined) return false;
    return !this.#device.isProfiled && this.#hasSameScratch();
  }

  replay(begin = 0, count = Number.POSITIVE_INFINITY): number | undefined {
    if (begin === 0) this.#device.launched(this.launchCount);
    const steps = this.#steps;
    const end = Math.min(begin + count, steps.length);
    for (let i = begin; i < end; i++) steps[i]?.();
    return end < steps.length ? end : undefined;
  }

  dispose(): void {
    this.#isInvalid = true;
    for (const buffer of this.#users) buffer.onDestroy.delete(this.invalidate);
    this.#steps.length = 0;
    this.#users.clear();
    this.buffers.clear();
  }

  #hasSameScratch(): boolean {
    const { scratchMoves } = this.#machine.memory;
    return scratchMoves === (this.#scratchMoves ?? scratchMoves);
  }

  #use(buffer: WasmBuffer): void {
    if (this.#users.has(buffer)) return;
    this.#users.add(buffer);
    this.buffers.add(buffer);
    buffer.onDestroy.add(this.invalidate);
  }
}
