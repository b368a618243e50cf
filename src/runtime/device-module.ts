import { type Dim, evaluateDim, formatDim } from '../core/dim.ts';
import { RuntimeError, ShapeError, UnsupportedError } from '../core/errors.ts';
import type { PrimitiveFunction, TensorType } from '../core/primitive-function.ts';
import type { Device, Kernel, PreparedKernels, PrepareOptions } from '../device/device.ts';
import type { Module } from './module.ts';
import { describeValue, type PackedFunction, TensorValue, type Value } from './value.ts';

/** A launch holds the thread for microseconds on a GPU, and until it is done on the host. */
const GPU_LAUNCH_COST = 256;
const HOST_LAUNCH_COST = 1 << 24;

/** The kernels of one device. */
export class DeviceModule implements Module {
  readonly name: string;
  readonly callCost: () => number;
  readonly device: Device;
  readonly #kernels: PreparedKernels;
  readonly #primitives: ReadonlyMap<string, PrimitiveFunction>;

  constructor(
    device: Device,
    kernels: PreparedKernels,
    primitives: ReadonlyMap<string, PrimitiveFunction>,
  ) {
    this.device = device;
    this.name = `kernels on ${device.info.name}`;
    const cost = device.kind === 'host' ? HOST_LAUNCH_COST : GPU_LAUNCH_COST;
    this.callCost = () => cost;
    this.#kernels = kernels;
    this.#primitives = primitives;
  }

  get(name: string): PackedFunction | undefined {
    const primitive = this.#primitives.get(name);
    const kernel = this.#kernels.get(name);
    return primitive === undefined || kernel === undefined
      ? undefined
      : launcher(this.device, kernel, primitive);
  }

  dispose(): void {
    this.#kernels.dispose();
  }
}

/**
 * Prepares the primitives on the first device; those that it does not support on the next. Throws
 * the last device's UnsupportedError.
 */
export async function loadDeviceModules(
  devices: readonly Device[],
  primitives: readonly PrimitiveFunction[],
  options: PrepareOptions,
): Promise<DeviceModule[]> {
  const modules: DeviceModule[] = [];
  let remaining = primitives;
  try {
    const distinct = [...new Set(devices)];
    for (const device of distinct) {
      if (remaining.length === 0) break;
      const isLast = device === distinct.at(-1);
      const { module, refused } = await prepareOn(device, remaining, { ...options, isLast });
      modules.push(module);
      remaining = refused;
    }
  } catch (error) {
    for (const module of modules) module.dispose();
    throw error;
  }
  return modules;
}

async function prepareOn(
  device: Device,
  primitives: readonly PrimitiveFunction[],
  { isLast, ...options }: PrepareOptions & { readonly isLast: boolean },
): Promise<{ module: DeviceModule; refused: readonly PrimitiveFunction[] }> {
  const prepare = async (accepted: readonly PrimitiveFunction[]) => {
    const byName = new Map(accepted.map((primitive) => [primitive.name, primitive]));
    return new DeviceModule(device, await device.prepare(accepted, options), byName);
  };
  try {
    return { module: await prepare(primitives), refused: [] };
  } catch (error) {
    const names = isLast ? undefined : refusedNames(error);
    if (names === undefined) throw error;
    const refused = primitives.filter(({ name }) => names.has(name));
    if (refused.length === 0) throw error;
    return { module: await prepare(primitives.filter(({ name }) => !names.has(name))), refused };
  }
}

function refusedNames(error: unknown): ReadonlySet<string> | undefined {
  if (!(error instanceof UnsupportedError)) return undefined;
  const names = error.details.primitives;
  return Array.isArray(names) ? new Set(names.map(String)) : undefined;
}

/**
 * What the verifier cannot know is checked at each launch: that arguments are tensors of the
 * primitive's types on this device, and that results go where nothing is read.
 */
function launcher(device: Device, kernel: Kernel, primitive: PrimitiveFunction): PackedFunction {
  const types = [...primitive.params, ...primitive.results.map(({ type }) => type)];
  const symbolic = types.some(({ shape }) => shape.some((dim) => typeof dim !== 'number'));
  const inputCount = primitive.params.length;
  return (...args) => {
    if (args.length > types.length) throw tooMany(kernel.name, types.length, args.length);
    const symbols = symbolic ? new Map<string, number>() : NO_SYMBOLS;
    for (let i = 0; i < types.length; i++) {
      const tensor = args[i];
      const type = types[i];
      if (!(tensor instanceof TensorValue) || tensor.storage.device !== device) {
        throw notOnDevice({ kernel: kernel.name, index: i, device, value: tensor ?? null });
      }
      if (type === undefined || !fits(tensor, type, symbols)) {
        throw wrongType(kernel.name, i, { tensor, type });
      }
      if (i >= inputCount) checkDestination(args as TensorValue[], i, primitive);
    }
    kernel.launch(args as TensorValue[]);
    return null;
  };
}

const NO_SYMBOLS = new Map<string, number>();

function fits(tensor: TensorValue, type: TensorType, symbols: Map<string, number>): boolean {
  const { shape } = tensor;
  if (tensor.dtype !== type.dtype || shape.length !== type.shape.length) return false;
  for (let axis = 0; axis < shape.length; axis++) {
    const expected = type.shape[axis];
    const actual = shape[axis];
    if (expected === actual || expected === '?') continue;
    if (typeof expected === 'number' || !dimFits(expected, actual, symbols)) return false;
  }
  return true;
}

/** A name is bound where it is first met; an expression over unbound names fits anything. */
function dimFits(
  expected: Dim | undefined,
  actual: number | undefined,
  symbols: Map<string, number>,
): boolean {
  if (expected === undefined || actual === undefined) return false;
  const known = evaluateDim(expected, symbols);
  if (known !== undefined) return known === actual;
  if (typeof expected === 'string') symbols.set(expected, actual);
  return true;
}

interface Misplaced {
  readonly kernel: string;
  readonly index: number;
  readonly device: Device;
  readonly value: Value;
}

function notOnDevice({ kernel, index, device, value }: Misplaced): RuntimeError {
  const isTensor = value instanceof TensorValue;
  const elsewhere = isTensor ? ` on ${value.storage.device.info.name}` : '';
  return new RuntimeError({
    where: `kernel ${kernel}, argument ${index}`,
    got: `${describeValue(value)}${elsewhere}`,
    expected: `a tensor on ${device.info.name}`,
    remedy: isTensor ? 'Place a vm.builtin.to_device before the call.' : undefined,
  });
}

function wrongType(
  kernel: string,
  index: number,
  { tensor, type }: { tensor: TensorValue; type: TensorType | undefined },
): ShapeError {
  return new ShapeError({
    where: `kernel ${kernel}, argument ${index}`,
    got: describeValue(tensor),
    expected:
      type === undefined
        ? 'no argument'
        : `${type.dtype} (${type.shape.map(formatDim).join(', ')})`,
  });
}

function tooMany(kernel: string, expected: number, got: number): RuntimeError {
  return new RuntimeError({
    where: `kernel ${kernel}`,
    got: `${got} arguments`,
    expected: `${expected}: the inputs and the destinations`,
  });
}

/** A GPU does not bind a buffer to be read and to be written; results must not overlap either. */
function checkDestination(
  args: readonly TensorValue[],
  index: number,
  { name, params }: PrimitiveFunction,
): void {
  const target = args[index] as TensorValue;
  if (target.storage.isReadOnly) throw wrongDestination(name, index, 'a constant as destination');
  for (let i = 0; i < index; i++) {
    const other = args[i] as TensorValue;
    if (other.buffer !== target.buffer) continue;
    if (i < params.length || overlap(other, target)) {
      throw wrongDestination(name, index, `a destination in the storage of argument ${i}`);
    }
  }
}

function overlap(a: TensorValue, b: TensorValue): boolean {
  return a.byteOffset < b.byteOffset + b.byteLength && b.byteOffset < a.byteOffset + a.byteLength;
}

function wrongDestination(kernel: string, index: number, got: string): RuntimeError {
  return new RuntimeError({
    where: `kernel ${kernel}, argument ${index}`,
    got,
    expected: 'a tensor from alloc_tensor over memory that the call uses for nothing else',
  });
}
