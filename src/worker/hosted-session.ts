import type { BytecodeFunction, ExecutableData, ValueType } from '../bytecode/executable.ts';
import { type Dim, evaluateDim } from '../core/dim.ts';
import { UsageError } from '../core/errors.ts';
import { HostTensor } from '../core/host-tensor.ts';
import { AdtValue, FloatValue, ShapeValue, TensorValue, type Value } from '../runtime/value.ts';
import type { VirtualMachine } from '../runtime/virtual-machine.ts';
import { describeFunctions } from './describe-functions.ts';
import type { SharedDevice } from './device-pool.ts';
import type {
  Dims,
  FunctionInfo,
  HandleId,
  RunRequest,
  SessionMemory,
  WireProfile,
  WireResult,
  WireTensor,
  WireValue,
} from './protocol.ts';

/** The device of a session and the host beside it; both the same when it runs on the host. */
export interface SessionDevices {
  readonly main: SharedDevice;
  readonly host: SharedDevice;
}

/** A machine with what the page holds of it. */
export class HostedSession {
  readonly executable: ExecutableData;
  readonly machine: VirtualMachine;
  readonly functions: readonly FunctionInfo[];
  readonly #devices: SessionDevices;
  readonly #device: SharedDevice;
  readonly #handles = new Map<HandleId, TensorValue>();
  #nextHandle = 1;

  constructor(executable: ExecutableData, machine: VirtualMachine, devices: SessionDevices) {
    this.executable = executable;
    this.machine = machine;
    this.functions = describeFunctions(executable);
    this.#devices = devices;
    this.#device = devices.main;
  }

  run(request: RunRequest, signal: AbortSignal): Promise<WireResult[]> {
    return this.#withArguments(request, (args) =>
      this.#device.share(async () => {
        const result = await this.machine.invoke(request.functionName, args, { signal });
        return this.#deliver(request, result);
      }),
    );
  }

  /** Runs while no other session uses the device, so that all launches are this run's. */
  profile(request: RunRequest, signal: AbortSignal): Promise<WireProfile> {
    const work = async (args: readonly Value[]): Promise<WireProfile> => {
      const start = performance.now();
      const profile = await this.machine.profile(request.functionName, args, { signal });
      await this.#device.device.synchronize();
      const totalMs = performance.now() - start;
      const { timings: kernels, instructionCount: instructions } = profile;
      const results = await this.#deliver(request, profile.result);
      return { results, kernels, totalMs, instructions };
    };
    return this.#withArguments(request, (args) => this.#device.exclude(() => work(args), signal));
  }

  async warmup(dims: Dims, signal: AbortSignal): Promise<void> {
    const { functions } = this.executable;
    const main = functions.find(({ name }) => name === 'main') ?? functions[0];
    if (main === undefined) return;
    const symbols = symbolsOf(main, dims);
    checkDimNames(symbols, dims);
    const args = main.paramNames.map((_, index) => zeroOf(main.signature?.params[index], symbols));
    const request = { session: 0, functionName: main.name, args, keep: 'device' as const };
    const results = await this.run(request, signal);
    for (const { value } of results) this.#drop(value);
    await this.#device.share(() => this.#device.device.synchronize());
  }

  async read(handle: HandleId): Promise<WireTensor> {
    const tensor = this.#resolve(handle);
    this.machine.retain(tensor);
    try {
      const [host] = await this.#device.share(() => this.machine.read([tensor]));
      return toWireTensor(host ?? HostTensor.zeros(tensor.dtype, tensor.shape));
    } finally {
      this.machine.release(tensor);
    }
  }

  release(handle: HandleId): void {
    const tensor = this.#handles.get(handle);
    if (tensor === undefined) return;
    this.#handles.delete(handle);
    this.machine.release(tensor);
  }

  /** Call when no run is under way any more. */
  dispose(): void {
    for (const handle of this.#handles.keys()) this.release(handle);
    this.machine.dispose();
    this.#devices.main.release();
    this.#devices.host.release();
  }

  memory(): SessionMemory {
    const { constantBytes, liveBytes, pooledBytes, peakBytes } = this.machine.memory();
    return { constantBytes, liveBytes, pooledBytes, peakBytes };
  }

  /**
   * Takes the arguments before anything is awaited: a handle that is disposed of right after the
   * call is still good for it.
   */
  async #withArguments<T>(
    request: RunRequest,
    call: (args: readonly Value[]) => Promise<T>,
  ): Promise<T> {
    const args: Value[] = [];
    try {
      for (const arg of request.args) args.push(this.#toValue(arg));
      return await call(args);
    } finally {
      for (const arg of args) this.machine.release(arg);
    }
  }

  /** The caller releases the value. */
  #toValue(wire: WireValue): Value {
    switch (wire.kind) {
      case 'tensor':
        return this.machine.tensor(new HostTensor(wire.dtype, wire.shape, wire.data));
      case 'handle': {
        const tensor = this.#resolve(wire.handle);
        this.machine.retain(tensor);
        return tensor;
      }
      case 'int':
      case 'string':
        return wire.value;
      case 'float':
        return new FloatValue(wire.value);
      case 'shape':
        return new ShapeValue(wire.value);
      case 'null':
        return null;
      case 'tuple': {
        const fields = wire.fields.map((field) => this.#toValue(field));
        const tuple = new AdtValue(wire.tag, fields);
        this.machine.retain(tuple);
        for (const field of fields) this.machine.release(field);
        return tuple;
      }
      default:
        return wire satisfies never;
    }
  }

  #resolve(handle: HandleId): TensorValue {
    const tensor = this.#handles.get(handle);
    if (tensor !== undefined) return tensor;
    throw new UsageError({
      where: 'DeviceTensor',
      got: 'a handle that was disposed of',
      expected: 'a live one',
    });
  }

  /** Reads or keeps what a function returned, and drops the reference to it. */
  async #deliver(request: RunRequest, result: Value): Promise<WireResult[]> {
    try {
      const info = this.functions.find(({ name }) => name === request.functionName);
      const names = info?.results ?? [];
      const values = names.length === 1 ? [result] : fieldsOf(result);
      const tensors = request.keep === 'host' ? values.flatMap(tensorsIn) : [];
      const read = tensors.length === 0 ? [] : await this.machine.read(tensors);
      const hosts = new Map(tensors.map((tensor, index) => [tensor, read[index]]));
      return names.map(({ name }, index) => ({
        name,
        value: this.#toWire(values[index] ?? null, hosts),
      }));
    } finally {
      this.machine.release(result);
    }
  }

  #toWire(value: Value, hosts: ReadonlyMap<TensorValue, HostTensor | undefined>): WireValue {
    if (value === null) return { kind: 'null' };
    if (typeof value === 'number') return { kind: 'int', value };
    if (typeof value === 'string') return { kind: 'string', value };
    if (value instanceof TensorValue) {
      const host = hosts.get(value);
      return host === undefined ? this.#keep(value) : toWireTensor(host);
    }
    if (value instanceof FloatValue) return { kind: 'float', value: value.value };
    if (value instanceof ShapeValue) return { kind: 'shape', value: value.dims };
    if (value instanceof AdtValue) {
      const fields = value.fields.map((field) => this.#toWire(field, hosts));
      return { kind: 'tuple', tag: value.tag, fields };
    }
    throw new UsageError({
      where: 'run',
      got: `a ${value.kind} as a result`,
      expected: 'tensors, numbers, strings, shapes or tuples of them',
      remedy: 'Functions and storages stay inside the machine: use VirtualMachine for them.',
    });
  }

  #keep(tensor: TensorValue): WireValue {
    const handle = this.#nextHandle++;
    this.machine.retain(tensor);
    this.#handles.set(handle, tensor);
    return { kind: 'handle', handle, dtype: tensor.dtype, shape: tensor.shape };
  }

  #drop(value: WireValue): void {
    if (value.kind === 'handle') this.release(value.handle);
    else if (value.kind === 'tuple') for (const field of value.fields) this.#drop(field);
  }
}

function fieldsOf(result: Value): readonly Value[] {
  return result instanceof AdtValue ? result.fields : [result];
}

function tensorsIn(value: Value): TensorValue[] {
  if (value instanceof TensorValue) return [value];
  return value instanceof AdtValue ? value.fields.flatMap(tensorsIn) : [];
}

function toWireTensor({ dtype, shape, data }: HostTensor): WireTensor {
  return { kind: 'tensor', dtype, shape, data };
}

function checkDimNames(symbols: ReadonlyMap<string, number>, dims: Dims): void {
  const known = [...symbols.keys()].filter((name) => name !== '?');
  const unknown = Object.keys(dims).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new UsageError({
    where: 'warmup',
    got: `dimension ${unknown.join(', ')}`,
    expected: known.length === 0 ? 'none: all dimensions are fixed' : known.join(', '),
  });
}

/** Values of all symbols; 1 for those not given, so that expressions over them have a value. */
function symbolsOf(main: BytecodeFunction, dims: Dims): Map<string, number> {
  const symbols = new Map<string, number>();
  const visit = (dim: Dim): void => {
    if (typeof dim === 'string') symbols.set(dim, dims[dim] ?? 1);
    else if (typeof dim === 'object') [dim.left, dim.right].forEach(visit);
  };
  for (const type of main.signature?.params ?? []) {
    if (type.kind === 'tensor') type.shape.forEach(visit);
  }
  return symbols;
}

function zeroOf(type: ValueType | undefined, symbols: ReadonlyMap<string, number>): WireValue {
  if (type?.kind === 'int' || type?.kind === 'float') return { kind: type.kind, value: 0 };
  if (type?.kind !== 'tensor') return { kind: 'null' };
  const shape = type.shape.map((dim) => evaluateDim(dim, symbols) ?? 1);
  return toWireTensor(HostTensor.zeros(type.dtype, shape));
}
