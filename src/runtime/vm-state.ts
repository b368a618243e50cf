import type { BytecodeFunction, ExecutableData } from '../bytecode/executable.ts';
import { RuntimeError } from '../core/errors.ts';
import type { HostTensor } from '../core/tensor/host-tensor.ts';
import { elementCount } from '../core/tensor/shape.ts';
import { storageByteLength } from '../core/tensor/dtype.ts';
import type { Device } from '../device/device.ts';
import type { Allocator } from './allocator/allocator.ts';
import { writeTensor } from './values/tensor-transfer.ts';
import type { RunRecording } from './replay/run-recording.ts';
import {
  discard,
  FieldCount,
  type MachineValue,
  type PackedFunction,
  TensorValue,
  type TensorView,
  type Value,
} from './values/value.ts';

/** See `builtins/append-tensors.ts`. */
interface GrowingTensors {
  appendTensors(state: VmState, operands: readonly Value[]): TensorValue;
  wholeTensor(state: VmState, tensor: Value, axis: Value): TensorValue;
}

/** See `compare/widened-storages.ts`. */
interface WidenedTensors {
  around(allocTensor: PackedFunction): PackedFunction;
}

/** Observes what is brought to a machine. */
export interface CallObserver {
  uploaded(value: TensorValue, tensor: HostTensor): void;
  /** Called before a call from outside, with arguments that fit. Throws to refuse it. */
  called(callee: BytecodeFunction, args: readonly Value[]): void;
}

/** The part of a machine that packed functions need: its devices, their allocators, the program's tables. */
export class VmState {
  readonly program: ExecutableData;
  readonly machine: MachineValue;
  /** Index 0 is the session's device, 1 the host. */
  readonly allocators: readonly Allocator[];
  readonly log: (line: string) => void;
  readonly fields: FieldCount;
  readonly observers = new Set<CallObserver>();
  /** `vm.builtin.append` and `vm.builtin.whole`; loaded for programs that call them. */
  growing: GrowingTensors | undefined;
  /** Widens tensors of a program that runs in float32 in place of float16. */
  widened: WidenedTensors | undefined;
  /** The run that is being recorded, while its code runs. */
  recording: RunRecording | undefined;

  constructor(options: VmStateOptions) {
    this.program = options.program;
    this.machine = options.machine;
    this.allocators = options.allocators;
    this.log = (line) => {
      this.recording?.abandon();
      options.log(line);
    };
    this.fields = new FieldCount(options.fieldLimit);
  }

  /** Throws RuntimeError when the machine has no such device. */
  allocator(deviceIndex: number): Allocator {
    const allocator = this.allocators[deviceIndex];
    if (allocator !== undefined) return allocator;
    throw new RuntimeError({
      got: `device index ${deviceIndex}`,
      expected: `an index below ${this.allocators.length}`,
      remedy: 'Give the machine the devices that the executable was compiled for.',
    });
  }

  allocatorOf(device: Device): Allocator {
    const allocator = this.allocators.find((candidate) => candidate.device === device);
    if (allocator !== undefined) return allocator;
    throw new RuntimeError({
      got: `a tensor on ${device.info.name}`,
      expected: 'a tensor on a device of this machine',
      remedy: 'Read the tensor and upload it again with vm.tensor.',
    });
  }

  /** A new tensor without references, its contents undefined. */
  allocateTensor(allocator: Allocator, view: Omit<TensorView, 'byteOffset'>): TensorValue {
    const byteLength = storageByteLength(view.dtype, elementCount(view.shape));
    const storage = allocator.allocate(byteLength);
    return new TensorValue(storage, { ...view, byteOffset: storage.byteOffset });
  }

  /** A new tensor without references, with the contents of a host tensor. */
  upload(tensor: HostTensor, deviceIndex: number): TensorValue {
    const allocator = this.allocator(deviceIndex);
    const value = this.allocateTensor(allocator, tensor);
    const { buffer, byteOffset } = value;
    try {
      writeTensor({ device: allocator.device, buffer, byteOffset }, tensor);
    } catch (error) {
      discard(value);
      throw error;
    }
    for (const observer of this.observers) observer.uploaded(value, tensor);
    return value;
  }
}

interface VmStateOptions {
  readonly program: ExecutableData;
  readonly machine: MachineValue;
  readonly allocators: readonly Allocator[];
  readonly log: (line: string) => void;
  /** See {@link Limits.fields}. */
  readonly fieldLimit: number;
}
