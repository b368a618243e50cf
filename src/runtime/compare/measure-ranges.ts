import type { ExecutableData } from '../../bytecode/executable.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Device } from '../../device/device.ts';
import type { HostInput } from '../link/host-function.ts';
import { VirtualMachine } from '../virtual-machine.ts';
import { type KernelCall, KernelCalls } from './kernel-calls.ts';
import { MachineRun } from './machine-run.ts';
import type { WatchedCall } from './watched-run.ts';
import { widenedDTypes, widenProgram } from './widen-program.ts';

/** How large a value of float16 was, computed in float32. */
export interface ValueRange extends KernelCall {
  /** The largest magnitude of an element, over all runs so far; float16 ends at 65,504. */
  readonly largest: number;
}

/** Runs a program in float32 and remembers how large the values are that it stores as float16. */
export class RangeMeasurement {
  readonly #machine: VirtualMachine;
  readonly #kernels: KernelCalls;
  readonly #ranges = new Map<string, ValueRange>();

  private constructor(machine: VirtualMachine, kernels: KernelCalls) {
    this.#machine = machine;
    this.#kernels = kernels;
  }

  /** `device` is of the host. Rejects as `widenProgram` and `VirtualMachine.create` do. */
  static async open(
    program: ExecutableData,
    constants: ReadonlyMap<number, HostTensor>,
    device: Device,
  ): Promise<RangeMeasurement> {
    const machine = await VirtualMachine.create(widenProgram(program, constants), {
      devices: [device],
      widened: widenedDTypes(program),
    });
    return new RangeMeasurement(machine, new KernelCalls(program));
  }

  /** One run more; the ranges of all runs so far. */
  async run(
    functionName: string,
    args: readonly HostInput[],
    signal?: AbortSignal,
  ): Promise<readonly ValueRange[]> {
    const options = { functionName, keepsInputs: false, readsResults: true, signal };
    await new MachineRun(this.#machine, args).run((call) => this.#measure(call), options);
    return [...this.#ranges.values()];
  }

  dispose(): void {
    this.#machine.dispose();
  }

  async #measure(call: WatchedCall): Promise<void> {
    const { kernel, at } = call;
    const stored = this.#kernels.primitive(kernel)?.results ?? [];
    if (!stored.some(({ type }) => type.dtype === 'float16')) return;
    const halves = (await call.results()).filter((_, i) => stored[i]?.type.dtype === 'float16');
    for (const [i, tensor] of halves.entries()) {
      const key = `${at?.function} ${at?.instruction} ${kernel} ${i}`;
      const known = this.#ranges.get(key)?.largest ?? 0;
      const largest = Math.max(known, largestOf(tensor));
      this.#ranges.set(key, { ...this.#kernels.describe(call), largest });
    }
  }
}

/** Infinite where an element is, or is no number. */
function largestOf({ data }: HostTensor): number {
  let largest = 0;
  for (const value of data as Float32Array) {
    const size = Math.abs(value);
    if (!(size <= largest)) largest = Number.isNaN(size) ? Number.POSITIVE_INFINITY : size;
  }
  return largest;
}
