import type { ExecutableData } from '../bytecode/executable.ts';
import { DeviceLostError, internalError, UsageError } from '../core/errors.ts';
import { HostTensor } from '../core/host-tensor.ts';
import { untilAborted } from '../core/until-aborted.ts';
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
import type { RefusedKind } from './refused-result.ts';
import type { SessionDevices, SharedUse } from './shared-use.ts';

/** What a page can take as a result: messages must not exhaust stack or memory of a thread. */
const MAX_RESULT_COUNT = 1 << 16;
const MAX_RESULT_DEPTH = 1000;

type Deliverable = Pick<RunRequest, 'functionName' | 'keep'>;

/** A machine with what the page holds of it. */
export class HostedSession {
  readonly executable: ExecutableData;
  machine: VirtualMachine;
  readonly functions: readonly FunctionInfo[];
  /** Set when the session shares its device. */
  shared: SharedUse | undefined;
  /** See `ProgramLimits`. */
  runTimeout: number | undefined;
  /** What a call waits for before it begins. */
  ready: Promise<unknown> | undefined;
  #devices: SessionDevices;
  readonly #uses = new Set<Promise<unknown>>();
  readonly #handles = new Map<HandleId, TensorValue>();
  #nextHandle = 1;
  /** Handles below this one went with a device. */
  #firstHandle = 1;

  constructor(executable: ExecutableData, machine: VirtualMachine, devices: SessionDevices) {
    this.executable = executable;
    this.machine = machine;
    this.functions = describeFunctions(executable);
    this.#devices = devices;
  }

  get device(): SharedDevice {
    return this.#devices.main;
  }

  /** See {@link RebuildableSession}. */
  replace(machine: VirtualMachine, devices: SessionDevices): void {
    this.#handles.clear();
    this.#firstHandle = this.#nextHandle;
    this.#releaseDevices();
    this.machine = machine;
    this.#devices = devices;
  }

  run(request: RunRequest, signal: AbortSignal): Promise<WireResult[]> {
    const run = (args: readonly Value[]): Promise<WireResult[]> =>
      this.device.share(async () => {
        const result = await this.machine.invoke(request.functionName, args, { signal });
        return untilAborted(this.deliver(request, result), signal);
      }, signal);
    return this.#use(() => this.withArguments(request, run), signal);
  }

  /** Runs while no other session uses the device, so that all launches are this run's. */
  profile(request: RunRequest, signal: AbortSignal): Promise<WireProfile> {
    const work = async (args: readonly Value[]): Promise<WireProfile> => {
      const start = performance.now();
      const profile = await this.machine.profile(request.functionName, args, { signal });
      await this.device.device.synchronize();
      const totalMs = performance.now() - start;
      const { timings: kernels, instructionCount: instructions } = profile;
      const results = await untilAborted(this.deliver(request, profile.result), signal);
      return { results, kernels, totalMs, instructions };
    };
    const run = (args: readonly Value[]) => this.device.exclude(() => work(args), signal);
    return this.#use(() => this.withArguments(request, run), signal);
  }

  async warmup(dims: Dims, signal: AbortSignal): Promise<void> {
    const { warmupCall } = await import('./warmup-call.ts');
    const call = warmupCall(this.executable, dims);
    if (call === undefined) return;
    const run = async (): Promise<void> => {
      this.machine.release(await this.machine.invoke(call.name, call.args, { signal }));
      await this.device.device.synchronize();
    };
    await this.#use(() => this.device.share(run, signal), signal);
  }

  read(handle: HandleId): Promise<WireTensor> {
    return this.#use(() => this.#read(handle));
  }

  async #read(handle: HandleId): Promise<WireTensor> {
    const tensor = this.#resolve(handle);
    this.machine.retain(tensor);
    try {
      const [host] = await this.device.share(() => this.machine.read([tensor]));
      return toWireTensor(host ?? HostTensor.zeros(tensor.dtype, tensor.shape));
    } finally {
      this.machine.release(tensor);
    }
  }

  release(handle: HandleId): void {
    // Calls that wait for their turn may have it as an argument.
    if (this.#uses.size === 0) this.#release(handle);
    else void Promise.allSettled(this.#uses).then(() => this.#release(handle));
  }

  #use<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.shared === undefined) return work();
    const use = this.shared.use(work, signal);
    this.#uses.add(use);
    return use.finally(() => this.#uses.delete(use));
  }

  #release(handle: HandleId): void {
    const tensor = this.#handles.get(handle);
    if (tensor === undefined) return;
    this.#handles.delete(handle);
    this.machine.release(tensor);
  }

  /** Call when no run is under way any more. */
  dispose(): Promise<void> | undefined {
    for (const handle of this.#handles.keys()) this.#release(handle);
    this.machine.dispose();
    const files = this.shared?.dispose();
    this.#releaseDevices();
    return files;
  }

  #releaseDevices(): void {
    this.#devices.main.release();
    this.#devices.host.release();
  }

  memory(): SessionMemory {
    const report = this.machine.memory();
    const { constantBytes, liveBytes, pooledBytes, scratchBytes, peakBytes } = report;
    const sharing = this.shared?.counters();
    return {
      constantBytes,
      liveBytes,
      pooledBytes,
      scratchBytes,
      peakBytes,
      ...(sharing && { sharing }),
    };
  }

  /**
   * Takes the arguments before anything is awaited: a handle that is disposed of right after the
   * call is still good for it.
   */
  async withArguments<T>(
    request: Pick<RunRequest, 'args'>,
    call: (args: readonly Value[]) => Promise<T>,
  ): Promise<T> {
    const args: Value[] = [];
    try {
      for (const arg of request.args) args.push(this.#toValue(arg));
      if (this.ready !== undefined) await this.ready;
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
    if (handle > 0 && handle < this.#firstHandle) {
      throw new DeviceLostError('The DeviceTensor went with the device that was lost.');
    }
    throw new UsageError({
      where: 'DeviceTensor',
      got: 'a handle that was disposed of',
      expected: 'a live one',
    });
  }

  /** Reads or keeps what a function returned, and drops the reference to it. */
  async deliver(request: Deliverable, result: Value): Promise<WireResult[]> {
    try {
      const info = this.functions.find(({ name }) => name === request.functionName);
      const names = info?.results ?? [];
      const values = names.length === 1 ? [result] : fieldsOf(result);
      // Before a handle is made: nobody would drop those of a result that cannot be delivered.
      const tensors = await tensorsIn(values);
      const isRead = request.keep === 'host';
      // Nobody waits for what is kept; the device is to begin with it all the same.
      if (!isRead) this.device.device.flush();
      const read = isRead ? await this.machine.read(tensors) : [];
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
    throw internalError(`a ${value.kind} on its way to the page`);
  }

  /** A value as the page holds it, its tensors as handles. Drops the reference to it. */
  async handOver(value: Value): Promise<WireValue> {
    try {
      await tensorsIn([value]);
      return this.#toWire(value, new Map());
    } finally {
      this.machine.release(value);
    }
  }

  #keep(tensor: TensorValue): WireValue {
    const handle = this.#nextHandle++;
    this.machine.retain(tensor);
    this.#handles.set(handle, tensor);
    return { kind: 'handle', handle, dtype: tensor.dtype, shape: tensor.shape };
  }
}

function fieldsOf(result: Value): readonly Value[] {
  return result instanceof AdtValue ? result.fields : [result];
}

/** The tensors of results. Rejects with UsageError for what a page cannot take. */
async function tensorsIn(results: readonly Value[]): Promise<TensorValue[]> {
  const tensors = new Set<TensorValue>();
  let count = 0;
  let culprit: RefusedKind | undefined = undefined as RefusedKind | undefined;
  const visit = (value: Value, depth: number): void => {
    if (++count > MAX_RESULT_COUNT || depth > MAX_RESULT_DEPTH) culprit = 'values';
    if (culprit !== undefined || typeof value !== 'object' || value === null) return;
    if (value.kind === 'tensor') tensors.add(value);
    else if (value.kind === 'adt') for (const field of value.fields) visit(field, depth + 1);
    else if (value.kind !== 'float' && value.kind !== 'shape') culprit = value.kind;
  };
  for (const result of results) visit(result, 0);
  if (culprit === undefined) return [...tensors];
  const { refusedResult } = await import('./refused-result.ts');
  throw refusedResult(culprit, MAX_RESULT_COUNT, MAX_RESULT_DEPTH);
}

function toWireTensor({ dtype, shape, data }: HostTensor): WireTensor {
  return { kind: 'tensor', dtype, shape, data };
}
