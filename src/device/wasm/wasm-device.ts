import { WeftError } from '../../core/errors.ts';
import { loadDoubles } from '../../ops/formula/wasm/find-intrinsic.ts';
import { KERNEL_OPS } from '../../ops/tables/kernel-ops.ts';
import type { OperatorTable } from '../../ops/operator.ts';
import { loadLowerings } from '../../ops/tables/wasm.ts';
import type {
  Device,
  DeviceBuffer,
  DeviceRange,
  DeviceRecording,
  KernelTiming,
} from '../device.ts';
import {
  type MakeAlone,
  ProcessorDevice,
  type ProcessorDeviceOptions,
} from '../host/processor-device.ts';
import { checkEngine } from './check-engine.ts';
import { WasmKernel, type WasmKernelContext } from './wasm-kernel.ts';
import { WasmMachine, type WasmMachineOptions } from './wasm-machine.ts';
import { LaunchRecorder } from './launch-recorder.ts';
import type { LaunchOrder } from './step-distributor.ts';

/** A device of a processor whose launches can be recorded, and need not be over when they return. */
class OrderedDevice extends ProcessorDevice {
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

export interface WasmDeviceOptions extends WasmMachineOptions {
  /** Default: the core operators. */
  readonly operators?: OperatorTable | undefined;
}

/**
 * A device that runs WebAssembly, generated from the primitive functions of a program; what has no
 * lowering runs its reference in the same memory. Throws DeviceError where the engine lacks SIMD, or the
 * page's policy forbids WebAssembly.
 */
export function createWasmDevice({ operators, ...options }: WasmDeviceOptions = {}): Device {
  checkEngine();
  const machine = new WasmMachine(options);
  return new OrderedDevice(machine, {
    kind: 'wasm',
    info: {
      name: 'wasm',
      vendor: '',
      architecture: '',
      adapterClass: 'wasm',
      maxBufferByteLength: machine.memory.maxBufferByteLength,
      get threads() {
        return machine.threadCount;
      },
    },
    memory: machine.memory,
    operators,
    makeAlone: aloneMaker(machine, operators ?? KERNEL_OPS),
    makeKernels: async (primitives, context, references) => {
      await loadDoubles();
      const whole = { ...context, machine, references };
      const kernels = primitives.map((primitive) => new WasmKernel(primitive, whole));
      return compileAhead(kernels, whole);
    },
    onDestroy: () => {
      machine.threads?.dispose();
      machine.distributor?.dispose();
    },
    lost: machine.threads?.lost,
    events: machine.log,
  });
}

/** Makes kernels that need no references; what is not in order is left to those that know what to say. */
function aloneMaker(machine: WasmMachine, operators: OperatorTable): MakeAlone {
  return async (primitives, services, { onProgress, prepacking, precision }) => {
    const names = new Set(primitives.flatMap(({ body }) => body.map(({ op }) => op)));
    await loadLowerings(names);
    const isKnown = [...names].every((name) => operators.get(name) !== undefined);
    if (names.has(PROGRAM_KERNEL) || !isKnown) return undefined;
    const references = undefined;
    const context = { ...services, operators, prepacking, precision, machine, references };
    const kernels = primitives.map((primitive) => new WasmKernel(primitive, context));
    const needsMore = () => kernels.some((kernel) => kernel.needsReferences());
    try {
      if (needsMore()) {
        await loadDoubles();
        if (needsMore()) return undefined;
      }
    } catch (error) {
      if (error instanceof WeftError) return undefined;
      throw error;
    }
    onProgress?.(0, primitives.length);
    const ready = await compileAhead(kernels, context);
    onProgress?.(primitives.length, primitives.length);
    return ready;
  };
}

/** A program's own WGSL. */
const PROGRAM_KERNEL = 'wgsl_kernel';

/** Makes code of what has known shapes, in one module. */
async function compileAhead(
  kernels: readonly WasmKernel[],
  { machine, prepacking }: WasmKernelContext,
): Promise<readonly WasmKernel[]> {
  await machine.threads?.ready();
  await machine.distributor?.ready();
  const beginMs = performance.now();
  const planned = kernels.map((kernel) => kernel.planAhead());
  machine.log.add(`plan ${kernels.length} kernels`, beginMs);
  const plans = planned.flatMap((one) => one?.steps ?? []);
  const steps = await machine.compile(plans, prepacking);
  let at = 0;
  for (const [i, kernel] of kernels.entries()) {
    const one = planned[i];
    if (one === undefined) continue;
    kernel.take(one, steps.slice(at, at + one.steps.length));
    at += one.steps.length;
  }
  return kernels;
}
