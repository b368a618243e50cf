import type { DeviceBuffer, DeviceRange, DeviceRecording, KernelTiming } from '../device.ts';
import { LaunchRecorder } from './launch-recorder.ts';
import type { LaunchOrder } from './step-distributor.ts';
import type { WasmMachine } from './wasm-machine.ts';
import { ProcessorDevice, type ProcessorDeviceOptions } from '../host/processor-device.ts';

/** A device of a processor whose launches can be recorded, and need not be over when they return. */
export class OrderedDevice extends ProcessorDevice {
  readonly recording: DeviceRecording = {
    begin: () => {
      const machine = this.#machine;
      if (machine.recording !== undefined || this.isProfiled) return undefined;
      const recording = new LaunchRecorder(machine, this);
      recording.resume();
      return recording;
    },
  };
  readonly #machine: WasmMachine;

  constructor(machine: WasmMachine, options: ProcessorDeviceOptions) {
    super(options);
    this.#machine = machine;
  }

  override write(buffer: DeviceBuffer, byteOffset: number, bytes: Uint8Array): void {
    const range = { buffer, byteOffset, byteLength: bytes.byteLength };
    const order = this.#machine.distributor;
    if (order?.isIdle === false) {
      const [target, copied] = [this.#later(order, 'write', range), bytes.slice()];
      order.submit(() => target().set(copied));
    } else super.write(buffer, byteOffset, bytes);
    this.#machine.recording?.addWrite(range, bytes);
  }

  override copy(from: DeviceRange, to: DeviceRange): void {
    const order = this.#machine.distributor;
    if (order?.isIdle === false) {
      const source = this.#later(order, 'copy from', from);
      const target = this.#later(order, 'copy to', to);
      order.submit(() => target().set(source()));
    } else super.copy(from, to);
    this.#machine.recording?.addCopy(from, to);
  }

  protected override contents(
    ranges: readonly DeviceRange[],
    copy: (bytes: Uint8Array) => Uint8Array,
  ): Uint8Array[] | Promise<Uint8Array[]> {
    this.#machine.recording?.invalidate();
    const order = this.#machine.distributor;
    if (order === undefined) return super.contents(ranges, copy);
    const places = ranges.map((range) => this.#later(order, 'read', range));
    return order.finish(() => places.map((place) => copy(place())));
  }

  override readSync(range: DeviceRange): Uint8Array | undefined {
    if (this.#machine.distributor?.isIdle === false) return undefined;
    // The rest of the call may depend on these elements, so it cannot be replayed.
    this.#machine.recording?.invalidate();
    return super.readSync(range);
  }

  override async synchronize(): Promise<void> {
    await super.synchronize();
    await this.#machine.distributor?.finish(() => undefined);
  }

  override async startProfile(): Promise<() => Promise<readonly KernelTiming[]>> {
    const order = this.#machine.distributor;
    if (order === undefined) return super.startProfile();
    // Each kernel is to have its own time, not that of others it waits for.
    order.isPaused = true;
    await order.settle();
    const stop = await super.startProfile();
    return async () => {
      const timings = await stop();
      if (!this.isProfiled) order.isPaused = false;
      return timings;
    };
  }

  /** Gives the bytes of a range after what was submitted before. The memory may grow meanwhile. */
  #later(order: LaunchOrder, where: string, range: DeviceRange): () => Uint8Array {
    const { byteOffset, byteLength } = this.view(where, range);
    return () => order.view(byteOffset, byteLength);
  }
}
