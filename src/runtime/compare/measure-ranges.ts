import type { ExecutableData } from '../../bytecode/executable.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Device } from '../../device/device.ts';
import type { HostInput } from '../host-function.ts';
import type { InstrumentedCall } from '../instrument-calls.ts';
import { TensorValue } from '../value.ts';
import { VirtualMachine } from '../virtual-machine.ts';
import { type KernelCall, KernelCalls } from './kernel-results.ts';
import { widenedDTypes, widenProgram } from './widen-program.ts';

/** How large a value of float16 was, computed in float32. */
export interface ValueRange extends KernelCall {
  /** The largest magnitude of an element, over all runs so far; float16 ends at 65,504. */
  readonly largest: number;
}

/** Runs a program in float32 and remembers how large the values are that it stores as float16. */
export class RangeMeasurement {
  readonly #machine: VirtualMachine;
  readonly #ranges: Map<string, ValueRange>;

  private constructor(machine: VirtualMachine, ranges: Map<string, ValueRange>) {
    this.#machine = machine;
    this.#ranges = ranges;
  }

  /** `device` is of the host. Rejects as `widenProgram` and `VirtualMachine.create` do. */
  static async open(
    program: ExecutableData,
    constants: ReadonlyMap<number, HostTensor>,
    device: Device,
  ): Promise<RangeMeasurement> {
    const ranges = new Map<string, ValueRange>();
    const kernels = new KernelCalls(program);
    const measure = async (call: InstrumentedCall, tensors: readonly TensorValue[]) => {
      const read = await machine.read(tensors);
      const at = call.place();
      for (const [i, tensor] of read.entries()) {
        const key = `${at?.function} ${at?.instruction} ${call.name} ${i}`;
        const known = ranges.get(key) ?? {
          ...kernels.describe({ kernel: call.name, at }),
          largest: 0,
        };
        ranges.set(key, { ...known, largest: Math.max(known.largest, largestOf(tensor)) });
      }
    };
    const machine = await VirtualMachine.create(widenProgram(program, constants), {
      devices: [device],
      widened: widenedDTypes(program),
      instrument: {
        after: (call, result) => {
          const primitive = kernels.primitiveOf(call);
          if (primitive === undefined) return undefined;
          const tensors = kernels
            .resultsOf(call, primitive, result)
            .filter(
              (value, i): value is TensorValue =>
                primitive.results[i]?.type.dtype === 'float16' && value instanceof TensorValue,
            );
          return tensors.length === 0 ? undefined : measure(call, tensors);
        },
      },
    });
    return new RangeMeasurement(machine, ranges);
  }

  /** One run more; the ranges of all runs so far. */
  async run(
    functionName: string,
    args: readonly HostInput[],
    signal?: AbortSignal,
  ): Promise<readonly ValueRange[]> {
    this.#machine.release(await this.#machine.invoke(functionName, args, { signal }));
    return [...this.#ranges.values()];
  }

  dispose(): void {
    this.#machine.dispose();
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
