import type { Executable } from '../bytecode/file/executable-file.ts';
import type { Clock } from '../core/async/clock.ts';
import { UsageError } from '../core/errors.ts';
import type { HostTensor } from '../core/tensor/host-tensor.ts';
import { shortList } from '../core/short-list.ts';
import { withinRunTime } from '../core/async/within-run-time.ts';
import type { HostFunction } from '../runtime/host-function.ts';
import { readTensors } from '../runtime/tensor-read.ts';
import { VirtualMachine } from '../runtime/virtual-machine.ts';
import { bytesOf, countOf, textOf } from './values/checked-values.ts';
import { LimitError } from './errors.ts';
import type { ExecutableStore } from './executable-store.ts';
import type { RpcLimits } from './limits.ts';
import { callMachine, LocalTensor, packedFunction, toMachine } from './values/machine-values.ts';
import { isRemoteFunction } from './values/remote-handles.ts';
import {
  type CallContext,
  type RpcFunction,
  type RpcTarget,
  RpcTuple,
  type RpcValue,
} from './values/rpc-value.ts';
import type { ServedDevice, WorkEvent } from './served-device.ts';
import { ConnectionMemory } from './connection-memory.ts';
import type { ServedPlace, ServedSessions } from './sessions/served-sessions.ts';
import { defineTarget, targetOf } from './targets.ts';
import { type Measured, measure, measuredFunction, type TimeOptions } from './time-evaluator.ts';
import { malformed } from './values/wire-values.ts';

export interface DeviceServiceOptions {
  readonly devices: readonly ServedDevice[];
  readonly offer: Readonly<Record<string, RpcFunction>>;
  readonly limits: RpcLimits;
  readonly store: ExecutableStore;
  readonly onEvent?: ((event: WorkEvent) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/** A device as the other side sees it. */
export interface RemoteDevice {
  /** The name of the adapter; `wasm` or `host` on a processor. */
  readonly name: string;
  /** `webgpu`, `wasm` or `host`. */
  readonly kind: string;
  /** The maker of the adapter, as WebGPU names it. */
  readonly vendor: string;
  /** The family of the adapter, as WebGPU names it. */
  readonly architecture: string;
  /** The class of adapters that kernels are planned for. */
  readonly adapterClass: string;
  /** Bytes of the largest buffer that it allocates. */
  readonly maxBufferByteLength: number;
}

/** A function of a loaded executable. */
interface MachineEntry {
  readonly machine: VirtualMachine;
  readonly name: string;
}

type Method = (args: readonly RpcValue[], context: CallContext) => Promise<RpcValue>;

/** The devices as one connection sees them: the methods that its other side calls. */
export class DeviceService {
  readonly methods: ReadonlyMap<string, RpcTarget>;
  readonly #options: DeviceServiceOptions;
  readonly #machines = new Set<VirtualMachine>();
  readonly #memory: ConnectionMemory;
  /** Their code is loaded with the first one. */
  #opening: Promise<ServedSessions> | undefined;
  #sessions: ServedSessions | undefined;
  readonly #entries = new WeakMap<RpcFunction, MachineEntry>();
  #isDisposed = false;

  constructor(options: DeviceServiceOptions) {
    this.#options = options;
    this.#memory = new ConnectionMemory(options.limits.byteBudget);
    const methods: Record<string, Method> = {
      devices: async () => JSON.stringify(options.devices.map(describeDevice)),
      has: async ([hash]) => ((await options.store.find(textOf(hash))) ? 1 : 0),
      store: async ([hash, bytes]) => {
        await options.store.add(textOf(hash), bytesOf(bytes));
        return null;
      },
      load: (args, context) => this.#load(args, context),
      session: (args, context) => this.#session(args, context),
      offered: async ([name]) => this.#offered(textOf(name)),
      read: async ([tensor]) => {
        const [contents = null] = await readLocal(tensor);
        return contents;
      },
      evaluate: (args, context) => this.#evaluate(args, context),
    };
    this.methods = new Map(
      Object.entries(methods).map(([name, call]) => [
        name,
        { name, ownsResults: name === 'read', call, release: () => undefined },
      ]),
    );
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const machine of this.#machines) machine.dispose();
    this.#machines.clear();
    this.#sessions?.dispose();
  }

  #offered(name: string): RpcFunction {
    const { offer } = this.#options;
    const callee = Object.hasOwn(offer, name) ? offer[name] : undefined;
    if (callee !== undefined) return callee;
    throw notOffered(name, Object.keys(offer));
  }

  /** `load(hash, device, names, functions)` gives the module, a function from names to functions. */
  async #load(
    [hash, device, names, functions]: readonly RpcValue[],
    { signal }: CallContext,
  ): Promise<RpcValue> {
    const { limits } = this.#options;
    const { executable, device: main, host } = this.#place(hash, device);
    const given = functionsOf(names, functions);
    const created = await VirtualMachine.create(executable, {
      devices: host === undefined || host === main ? [main] : [main, host],
      functions: this.#linkable(given, () => created),
      programKernels: limits.programKernels,
      workgroupLimit: limits.workgroupLimit,
      deviceTimeout: limits.deviceTimeout,
      limits: {
        callDepth: limits.callDepth,
        registers: limits.registers,
        fields: limits.fields,
        sliceMs: limits.sliceMs,
        instructions: limits.instructionLimit,
      },
      createAllocator: (on) => this.#memory.allocator(on),
      signal,
      log: () => undefined,
    });
    if (this.#isDisposed) created.dispose();
    this.#machines.add(created);
    return new RpcTuple([this.#module(created, main, given), describeFunctions(executable)]);
  }

  /** `session(hash, device, limits, functions, page)` gives a session, a function of its calls; see `sessions/`. */
  async #session(
    [hash, device, limits, functions, page]: readonly RpcValue[],
    { signal }: CallContext,
  ): Promise<RpcValue> {
    const place = this.#place(hash, device);
    this.#opening ??= this.#openSessions();
    const sessions = await this.#opening;
    if (this.#isDisposed) sessions.dispose();
    const session = await sessions.open(place, { limits, functions, page }, signal);
    return new RpcTuple([session.callee, session.description]);
  }

  async #openSessions(): Promise<ServedSessions> {
    const { ServedSessions: Sessions } = await import('./sessions/served-sessions.ts');
    const { limits: ceilings, onEvent, clock } = this.#options;
    this.#sessions = new Sessions({
      functions: (machine) => this.#linkable(new Map(), machine),
      createAllocator:
        ({ byteBudget }) =>
        (on) =>
          this.#memory.allocator(on, byteBudget),
      ceilings,
      onEvent,
      clock,
    });
    return this.#sessions;
  }

  #place(hash: RpcValue | undefined, device: RpcValue | undefined): ServedPlace {
    const { store, devices, limits, onEvent } = this.#options;
    const loaded = this.#machines.size + (this.#sessions?.size ?? 0);
    if (loaded >= limits.modules) throw tooManyModules(limits.modules);
    const executable = store.get(textOf(hash));
    if (executable === undefined) throw notStored(textOf(hash));
    const main = devices[countOf(device)];
    if (main === undefined) throw noDevice(countOf(device), devices.length);
    onEvent?.({ kind: 'load', hash: textOf(hash), device: main.info.name });
    const served = (wanted: string) => devices.find(({ kind }) => kind === wanted);
    // A processor is its own host, in the same memory.
    const host = main.kind === 'webgpu' ? (served('wasm') ?? served('host')) : main;
    return { executable, device: main, host };
  }

  /** The functions of the one who loads come before those that are offered to everybody. */
  #linkable(
    given: ReadonlyMap<string, RpcFunction>,
    machine: () => VirtualMachine,
  ): Record<string, HostFunction> {
    const all = [...Object.entries(this.#options.offer), ...given];
    return Object.fromEntries(
      all.map(([name, callee]) => [name, packedFunction(callee, machine) as HostFunction]),
    );
  }

  #module(
    machine: VirtualMachine,
    device: ServedDevice,
    given: ReadonlyMap<string, RpcFunction>,
  ): RpcFunction {
    const functions = new Map<string, RpcFunction>();
    const callee = async (name: RpcValue): Promise<RpcFunction> => {
      const known = functions.get(textOf(name));
      if (known !== undefined) return known;
      const made = this.#machineFunction({ machine, name: textOf(name) }, device);
      functions.set(textOf(name), made);
      return made;
    };
    return defineTarget<RpcFunction>(callee, {
      name: 'module',
      ownsResults: false,
      call: async ([name = null]) => callee(name),
      release: () => {
        this.#machines.delete(machine);
        machine.dispose();
        for (const remote of given.values()) if (isRemoteFunction(remote)) remote.release();
      },
    });
  }

  #machineFunction(entry: MachineEntry, device: ServedDevice): RpcFunction {
    const { machine, name } = entry;
    // Says at once when there is no such function.
    machine.signature(name);
    const { onEvent, limits, clock } = this.#options;
    const call = async (args: readonly RpcValue[], { signal, keep }: CallContext) => {
      onEvent?.({ kind: 'call', function: name });
      try {
        return await callMachine(args, {
          machine: () => machine,
          keep,
          run: (values) => {
            const run = (ended: AbortSignal) => machine.invoke(name, values, { signal: ended });
            return withinRunTime(run, signal, { ...limits, clock });
          },
        });
      } finally {
        device.flush();
        onEvent?.({ kind: 'done', function: name });
      }
    };
    const callee: RpcFunction = (...args) =>
      call(args, { signal: new AbortController().signal, keep: false });
    this.#entries.set(callee, entry);
    return defineTarget(callee, { name, ownsResults: true, call, release: () => undefined });
  }

  /** `evaluate(function, arguments, number, repeat, minRepeatMs)`, see {@link TimeOptions}. */
  async #evaluate(
    [callee, args, number, repeat, minRepeatMs]: readonly RpcValue[],
    { signal }: CallContext,
  ): Promise<RpcValue> {
    if (typeof callee !== 'function' || !(args instanceof RpcTuple)) {
      throw malformed('nothing to evaluate');
    }
    const options = {
      number: atMost(countOf(number), 1e6),
      repeat: atMost(countOf(repeat), 1000),
      minRepeatMs: atMost(countOf(minRepeatMs), 60_000),
    };
    const entry = this.#entries.get(callee);
    const context = { signal, keep: false };
    if (entry === undefined) return evaluate(plain(callee, args, context), options, signal);
    const { machine, name } = entry;
    const borrowed = toMachine(args.fields, machine);
    const devices = this.#options.devices;
    const synchronize = async (): Promise<void> => {
      await Promise.all(devices.map((device) => device.synchronize()));
    };
    try {
      const measured = measuredFunction(machine, name, { args: borrowed.values, synchronize });
      const { limits, clock } = this.#options;
      const run = (ended: AbortSignal) => evaluate(measured, options, ended);
      return await withinRunTime(run, signal, { ...limits, clock });
    } finally {
      borrowed.release();
    }
  }
}

async function evaluate(
  measured: Measured,
  options: TimeOptions,
  signal: AbortSignal,
): Promise<RpcValue> {
  return JSON.stringify(await measure(measured, options, signal));
}

function plain(callee: RpcFunction, { fields }: RpcTuple, context: CallContext): Measured {
  return {
    run: async () => void (await targetOf(callee).call(fields, context)),
    synchronize: async () => undefined,
    kernelMs: async () => undefined,
  };
}

/** A device as it is announced. */
export function describeDevice({ kind, info }: ServedDevice): RemoteDevice {
  const { name, vendor, architecture, adapterClass, maxBufferByteLength } = info;
  return { name, kind, vendor, architecture, adapterClass, maxBufferByteLength };
}

/** A function of a remote executable. */
export interface RemoteFunctionInfo {
  /** The name of the function. */
  readonly name: string;
  /** Names of its parameters, in order. */
  readonly paramNames: readonly string[];
}

function describeFunctions({ functions }: Executable): string {
  const infos: RemoteFunctionInfo[] = functions.map(({ name, paramNames }) => ({
    name,
    paramNames,
  }));
  return JSON.stringify(infos);
}

async function readLocal(tensor: RpcValue | undefined): Promise<HostTensor[]> {
  if (!(tensor instanceof LocalTensor)) throw malformed('a read without a tensor');
  return readTensors([tensor.value]);
}

function functionsOf(
  names: RpcValue | undefined,
  functions: RpcValue | undefined,
): Map<string, RpcFunction> {
  if (!(names instanceof RpcTuple) || !(functions instanceof RpcTuple)) {
    throw malformed('functions that are not a list');
  }
  return new Map(
    names.fields.map((name, index) => {
      const callee = functions.fields[index];
      if (typeof callee !== 'function') throw malformed('a value that is not a function');
      return [textOf(name), callee];
    }),
  );
}

function atMost(value: number, limit: number): number {
  if (value <= limit) return value;
  throw new LimitError({
    where: 'timeEvaluator',
    got: String(value),
    expected: `at most ${limit}`,
  });
}

function notOffered(name: string, offered: readonly string[]): UsageError {
  return new UsageError({
    where: 'remote connection',
    got: `the function name ${JSON.stringify(name)}`,
    expected: `one that is offered (${shortList(offered) || 'none'})`,
  });
}

function tooManyModules(limit: number): LimitError {
  return new LimitError({
    where: 'remote connection',
    got: `more than ${limit} loaded executables`,
    expected: `at most ${limit}`,
    remedy: 'Release modules that are not used any more, or raise limits.modules.',
  });
}

function notStored(hash: string): UsageError {
  return new UsageError({
    where: 'remote connection',
    got: `the executable ${hash}, which was dropped`,
    expected: 'one that was shipped',
    remedy: 'Load it again; raise limits.executableBytes where devices are served.',
  });
}

function noDevice(index: number, deviceCount: number): UsageError {
  return new UsageError({
    where: 'remote connection',
    got: `device ${index}`,
    expected: `a number below ${deviceCount}`,
  });
}
