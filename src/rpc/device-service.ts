import type { Executable } from '../bytecode/file/executable-file.ts';
import { UsageError } from '../core/errors.ts';
import type { HostTensor } from '../core/tensor/host-tensor.ts';
import { shortList } from '../core/short-list.ts';
import { withinRunTime } from '../core/async/within-run-time.ts';
import type { HostFunction } from '../runtime/link/host-function.ts';
import { readTensors } from '../runtime/values/tensor-read.ts';
import { VirtualMachine } from '../runtime/virtual-machine.ts';
import { bytes, callable, count, dictionaryOf, text } from './values/checked-values.ts';
import { LimitError } from './errors.ts';
import { storedIn, tooManyModules } from './executable-store.ts';
import { callMachine, LocalTensor, packedFunction, toMachine } from './values/machine-values.ts';
import { isRemoteFunction } from './values/remote-handles.ts';
import {
  type CallContext,
  type RpcFunction,
  type RpcTarget,
  RpcTuple,
} from './values/rpc-value.ts';
import { type DeviceServiceOptions, hostBeside, type ServedDevice } from './served-device.ts';
import { ConnectionMemory } from './connection-memory.ts';
import type { ServedSessions } from './sessions/served-sessions.ts';
import { defineTarget, targetOf } from './targets.ts';
import { type Measured, measure, measuredFunction } from './time-evaluator.ts';
import { malformed, valueOf } from './values/wire-values.ts';

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

type Method = (args: readonly unknown[], context: CallContext) => Promise<unknown>;

/** Methods whose results nobody else holds. */
const OWNED: ReadonlySet<string> = new Set(['read', 'session']);

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
      devices: async () => options.devices.map(describeDevice),
      has: async ([hash]) => options.store.find(text(hash, 'hash')),
      store: async ([hash, file]) => {
        await options.store.add(text(hash, 'hash'), bytes(file, 'file'));
        return null;
      },
      load: (args, context) => this.#load(args, context),
      session: async (args, context) => (await this.#openSessions()).call(args, context),
      offered: async ([name]) => this.#offered(text(name, 'name')),
      read: async ([tensor]) => {
        const [contents = null] = await readLocal(tensor);
        return contents;
      },
      evaluate: (args, context) => this.#evaluate(args, context),
    };
    this.methods = new Map(
      Object.entries(methods).map(([name, call]) => [
        name,
        { name, ownsResults: OWNED.has(name), call, release: () => undefined },
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

  /** `load(hash, device, functions)` gives the module, a function from names to functions, and what these are. */
  async #load(
    [hash, device, functions]: readonly unknown[],
    { signal }: CallContext,
  ): Promise<unknown> {
    const { limits } = this.#options;
    const { executable, device: main, host } = this.#place(hash, device);
    const given = new Map(Object.entries(dictionaryOf(callable)(functions, 'functions')));
    const created = await VirtualMachine.create(executable, {
      devices: host === main ? [main] : [main, host],
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
    return [this.#module(created, main, given), describeFunctions(executable)];
  }

  /** `session(name, ...args)` calls a method of `ServedSessions`. */
  async #openSessions(): Promise<ServedSessions> {
    this.#opening ??= import('./sessions/served-sessions.ts').then(
      ({ ServedSessions: Sessions }) =>
        new Sessions({
          ...this.#options,
          memory: this.#memory,
          functions: (machine) => this.#linkable(new Map(), machine),
          modules: () => this.#machines.size,
        }),
    );
    this.#sessions = await this.#opening;
    if (this.#isDisposed) this.#sessions.dispose();
    return this.#sessions;
  }

  #place(sent: unknown, device: unknown) {
    const { store, devices, limits, onEvent } = this.#options;
    const loaded = this.#machines.size + (this.#sessions?.size ?? 0);
    if (loaded >= limits.modules) throw tooManyModules(limits.modules);
    const hash = text(sent, 'hash');
    const executable = storedIn(store, hash);
    const main = devices[count(device, 'device')];
    if (main === undefined) throw noDevice(count(device, 'device'), devices.length);
    onEvent?.({ kind: 'load', hash, device: main.info.name });
    return { executable, device: main, host: hostBeside(main, devices) };
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
    const callee = async (sent: unknown): Promise<RpcFunction> => {
      const name = text(sent, 'name');
      const known = functions.get(name) ?? this.#machineFunction({ machine, name }, device);
      functions.set(name, known);
      return known;
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
    const call = async (args: readonly unknown[], { signal, keep }: CallContext) => {
      onEvent?.({ kind: 'call', function: name });
      try {
        return await callMachine(args.map(valueOf), {
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
    [given, args, number, repeat, minRepeatMs]: readonly unknown[],
    { signal }: CallContext,
  ): Promise<unknown> {
    const callee = callable(given, 'function');
    if (!(args instanceof RpcTuple)) throw malformed('nothing to evaluate');
    const options = {
      number: atMost(count(number, 'number'), 1e6),
      repeat: atMost(count(repeat, 'repeat'), 1000),
      minRepeatMs: atMost(count(minRepeatMs, 'minRepeatMs'), 60_000),
    };
    const entry = this.#entries.get(callee);
    const context = { signal, keep: false };
    if (entry === undefined) return measure(plain(callee, args, context), options, signal);
    const { machine, name } = entry;
    const borrowed = toMachine(args.fields, machine);
    const devices = this.#options.devices;
    const synchronize = async (): Promise<void> => {
      await Promise.all(devices.map((device) => device.synchronize()));
    };
    try {
      const measured = measuredFunction(machine, name, { args: borrowed.values, synchronize });
      const { limits, clock } = this.#options;
      const run = (ended: AbortSignal) => measure(measured, options, ended);
      return await withinRunTime(run, signal, { ...limits, clock });
    } finally {
      borrowed.release();
    }
  }
}

function plain(callee: RpcFunction, { fields }: RpcTuple, context: CallContext): Measured {
  return {
    run: async () => void (await targetOf(callee).call(fields, context)),
    synchronize: async () => undefined,
    kernelMs: async () => undefined,
  };
}

export function describeDevice({ kind, info }: ServedDevice): RemoteDevice {
  const { name, vendor, architecture, adapterClass, maxBufferByteLength } = info;
  return { name, kind, vendor, architecture, adapterClass, maxBufferByteLength };
}

export interface RemoteFunctionInfo {
  readonly name: string;
  /** Names of its parameters, in order. */
  readonly paramNames: readonly string[];
}

function describeFunctions({ functions }: Executable): RemoteFunctionInfo[] {
  return functions.map(({ name, paramNames }) => ({ name, paramNames }));
}

async function readLocal(tensor: unknown): Promise<HostTensor[]> {
  if (!(tensor instanceof LocalTensor)) throw malformed('a read without a tensor');
  return readTensors([tensor.value]);
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

function noDevice(index: number, deviceCount: number): UsageError {
  return new UsageError({
    where: 'remote connection',
    got: `device ${index}`,
    expected: `a number below ${deviceCount}`,
  });
}
