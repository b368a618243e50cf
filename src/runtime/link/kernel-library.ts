import { RuntimeError, UnsupportedError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import { returnsTensor } from '../../core/contracts/returns-tensor.ts';
import type { Device, Kernel, PreparedKernels, PrepareOptions } from '../../device/device.ts';
import type { Allocator } from '../allocator/allocator.ts';
import { fits, notOnDevice, readValues, tooMany, wrongType } from '../kernel-arguments.ts';
import type { FunctionLibrary } from './function-library.ts';
import type * as Returning from './returning-kernel.ts';
import { discard, type PackedFunction, TensorValue, type Value } from '../values/value.ts';

/** A launch holds the thread for microseconds on a GPU, and until it is done on a processor. */
const GPU_LAUNCH_COST = 256;
const HOST_LAUNCH_COST = 1 << 24;

const NO_SYMBOLS = new Map<string, number>();

/** A new tensor on a device with the contents of a host tensor. */
export type Upload = (tensor: HostTensor, device: Device) => TensorValue;

interface DeviceProgram {
  readonly primitives: ReadonlyMap<string, PrimitiveFunction>;
  /** Makes tensors for results that kernels make themselves. */
  readonly upload: Upload;
  readonly allocator: Allocator;
  /** Loaded where there are such. */
  readonly returning: typeof Returning | undefined;
}

class KernelLibrary implements FunctionLibrary {
  readonly name: string;
  readonly callCost: () => number;
  /** See {@link PreparedKernels.compileForSizes}. */
  readonly compileForSizes: PreparedKernels['compileForSizes'];
  readonly tune: PreparedKernels['tune'];
  readonly references: PreparedKernels['references'];
  readonly device: Device;
  readonly kernels: PreparedKernels;
  readonly #program: DeviceProgram;

  constructor(device: Device, kernels: PreparedKernels, program: DeviceProgram) {
    this.device = device;
    this.#program = program;
    this.name = `kernels on ${device.info.name}`;
    const cost = device.kind === 'webgpu' ? GPU_LAUNCH_COST : HOST_LAUNCH_COST;
    this.callCost = () => cost;
    this.kernels = kernels;
    this.compileForSizes = kernels.compileForSizes;
    this.tune = kernels.tune;
    this.references = kernels.references;
  }

  get(name: string): PackedFunction | undefined {
    const { primitives, upload, returning, allocator } = this.#program;
    const primitive = primitives.get(name);
    const kernel = this.kernels.get(name);
    if (primitive === undefined || kernel === undefined) return undefined;
    return returnsTensor(primitive) && returning !== undefined
      ? returning.returning(kernel, primitive, (tensor) => upload(tensor, this.device))
      : launcher(allocator, kernel, primitive);
  }

  dispose(): void {
    this.kernels.dispose();
  }
}

/** The allocator and the budgets of the kernels of one device. */
export interface KernelMemory extends Pick<PrepareOptions, 'prepacking' | 'idle'> {
  readonly allocator: Allocator;
}

export interface LoadOptions extends Omit<PrepareOptions, 'prepacking' | 'idle'> {
  /** Makes tensors for results that kernels make themselves. */
  readonly upload: Upload;
  readonly memoryOn: (device: Device) => KernelMemory;
}

/**
 * Prepares each primitive on its device: those that are placed on the host there, all others on the
 * first device. Throws UnsupportedError that names every primitive a device refuses, and why.
 */
export async function loadKernelLibraries(
  devices: readonly Device[],
  primitives: readonly PrimitiveFunction[],
  { upload, memoryOn, ...options }: LoadOptions,
): Promise<KernelLibrary[]> {
  const libraries: KernelLibrary[] = [];
  try {
    for (const [device, placed] of byDevice(devices, primitives)) {
      const byName = new Map(placed.map((primitive) => [primitive.name, primitive]));
      const isReturning = placed.some(returnsTensor);
      const returning = isReturning ? await import('./returning-kernel.ts') : undefined;
      const { allocator, ...memory } = memoryOn(device);
      const kernels = await device.prepare(placed, { ...options, ...memory });
      const program = { primitives: byName, upload, allocator, returning };
      libraries.push(new KernelLibrary(device, kernels, program));
    }
  } catch (error) {
    for (const library of libraries) library.dispose();
    throw error;
  }
  return libraries;
}

function byDevice(
  devices: readonly Device[],
  primitives: readonly PrimitiveFunction[],
): ReadonlyMap<Device, readonly PrimitiveFunction[]> {
  const placed = new Map<Device, PrimitiveFunction[]>();
  const second = devices[1] ?? devices[0];
  const host = second?.kind === 'webgpu' ? undefined : second;
  for (const primitive of primitives) {
    const isOnHost = primitive.device === 'host' || returnsTensor(primitive);
    const device = isOnHost ? host : devices[0];
    if (device === undefined) throw noHost(primitive.name);
    placed.set(device, [...(placed.get(device) ?? []), primitive]);
  }
  return placed;
}

function noHost(primitive: string): UnsupportedError {
  return new UnsupportedError({
    where: `kernel ${primitive}`,
    got: 'a machine without a host device',
    expected: 'one: the program runs this kernel on the host',
    remedy: 'Create the machine with the host as its second device.',
  });
}

/**
 * Checks at each launch of what the verifier cannot know: that arguments are tensors of the
 * primitive's types on this device, and that results go where nothing is read.
 */
function launcher(
  allocator: Allocator,
  kernel: Kernel,
  primitive: PrimitiveFunction,
): PackedFunction {
  const { device } = allocator;
  const types = [...primitive.params, ...primitive.results.map(({ type }) => type)];
  const symbolic = types.some(({ shape }) => shape.some((dim) => typeof dim !== 'number'));
  const inputCount = primitive.params.length;
  const isRead = readValues(primitive);
  const { overwrites = -1 } = kernel;
  return (...args) => {
    if (args.length > types.length) throw tooMany(kernel.name, types.length, args.length);
    const symbols = symbolic ? new Map<string, number>() : NO_SYMBOLS;
    const copies: Value[] = [];
    const changed = args[inputCount];
    // The tensor that is changed in place may be pitched: with room between its slices.
    if (changed instanceof TensorValue && args[overwrites] === changed)
      args[overwrites] = args[inputCount] = changed.whole();
    try {
      for (let i = 0; i < types.length; i++) {
        const tensor = args[i];
        const type = types[i];
        // Of an input that only tells sizes nothing but the shape is asked for.
        const isUsed = i >= inputCount || isRead.has(i);
        if (!(tensor instanceof TensorValue) || (isUsed && tensor.storage.device !== device)) {
          throw notOnDevice({ kernel: kernel.name, index: i, device, value: tensor ?? null });
        }
        if (type === undefined || !fits(tensor, type, symbols)) {
          throw wrongType(kernel.name, i, { tensor, type });
        }
        if (i >= inputCount) checkDestination(args as TensorValue[], i, { primitive, overwrites });
        else if (isUsed) {
          const dense = tensor.dense(allocator);
          if (dense !== tensor) copies.push((args[i] = dense));
        }
      }
      kernel.launch(args as TensorValue[]);
    } finally {
      copies.forEach(discard);
    }
    return null;
  };
}

interface Destination {
  readonly primitive: PrimitiveFunction;
  /** See {@link Kernel.overwrites}; -1 for nothing. */
  readonly overwrites: number;
}

/**
 * A GPU does not bind a buffer to be read and to be written; results must not overlap either. Only what a kernel
 * changes in place is its result.
 */
function checkDestination(
  args: readonly TensorValue[],
  index: number,
  { primitive: { name, params }, overwrites }: Destination,
): void {
  const target = args[index] as TensorValue;
  if (target.storage.isReadOnly || target.layout !== '') {
    const got = target.layout === '' ? 'a constant' : 'a tensor with room in between';
    throw wrongDestination(name, index, `${got} as destination`);
  }
  for (let i = 0; i < index; i++) {
    const other = args[i] as TensorValue;
    if (other.buffer !== target.buffer) continue;
    if (i === overwrites && other.byteOffset === target.byteOffset) continue;
    if (i < params.length || overlap(other, target)) {
      const got = `a destination in the storage of argument ${i}, which the kernel does not overwrite`;
      throw wrongDestination(name, index, got);
    }
  }
}

/** Returns true if two tensors of one storage share bytes. */
export function overlap(a: TensorValue, b: TensorValue): boolean {
  return a.byteOffset < b.byteOffset + b.byteLength && b.byteOffset < a.byteOffset + a.byteLength;
}

function wrongDestination(kernel: string, index: number, got: string): RuntimeError {
  return new RuntimeError({
    where: `kernel ${kernel}, argument ${index}`,
    got,
    expected: 'a tensor from alloc_tensor over memory that the call uses for nothing else',
  });
}
