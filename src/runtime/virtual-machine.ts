import { DISPOSE } from '../core/async/dispose-symbols.ts';
import type {
  BytecodeFunction,
  ExecutableData,
  FunctionSignature,
} from '../bytecode/executable.ts';
import { checkOptions, instanceOf, listOf, requireKind } from '../core/check-options.ts';
import { abortError, internalError, UsageError } from '../core/errors.ts';
import { HOST_TENSOR, type HostTensor } from '../core/tensor/host-tensor.ts';
import { shortList } from '../core/short-list.ts';
import type { TuneOptions, TuningStep } from '../device/device.ts';
import { CallRunner } from './calls/call-runner.ts';
import { type CallOutcome, closureCall, type Profile, registersOf } from './call.ts';
import { type HostInput, toValue } from './link/host-function.ts';
import type { FunctionType } from './values/typed-values.ts';
import { DEFAULT_LIMITS, type Invocation } from './invocation.ts';
import type { LinkedFunction } from './link/linked-code.ts';
import {
  type LoadedMachine,
  loadMachine,
  MACHINE_OPTIONS,
  type MachineInternals,
  type MachineOptions,
} from './link/load-machine.ts';
import { memoryReport, type MemoryReport } from './profile/memory-report.ts';
import { onDeviceLoss } from './on-device-loss.ts';
import { readTensors, readTensorSync, requireLive } from './values/tensor-read.ts';
import type { ReplayCounters } from './replay/replay-store.ts';
import {
  FloatValue,
  hold,
  type MachineValue,
  PackedFunctionValue,
  release,
  retain,
  TensorValue,
  unhold,
  type Value,
} from './values/value.ts';
import { fits } from './kernel-arguments.ts';

/** How one call is made. */
export interface InvokeOptions {
  /** Aborts the call, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Positions of tensors that the call takes over, each with one reference of the caller, also when it fails. It may
   * change those in place that nobody else refers to. Tensors that it uploads itself it owns anyway.
   */
  readonly donate?: readonly number[] | undefined;
  /** @internal In place of the machine's own: drives the call instruction by instruction. */
  readonly runner?: CallRunner | undefined;
}

const RUNNER = instanceOf('a runner of calls', CallRunner);
const INVOKE_OPTIONS = { signal: 'signal', donate: 'numbers', runner: RUNNER } as const;

const TENSOR = instanceOf('a tensor of a machine', TensorValue);

/** A function of a program as a JS function. The caller owns a reference to the result. */
export type MachineFunction = (...args: HostInput[]) => Promise<Value>;

/**
 * Runs one executable on given devices. Several calls may be in flight at once, each with a stack
 * of its own. Memory is counted by reference: a result belongs to the caller, who drops it with
 * {@link release}; arguments stay the caller's.
 */
export class VirtualMachine implements MachineValue {
  /** Tells values apart. */
  readonly kind = 'vm';
  /** The program that it runs. */
  readonly executable: ExecutableData;
  /** Undefined while loading and after the end. */
  #internals: MachineInternals | undefined;
  /** Why no further call is taken. */
  #end: Error | undefined;
  readonly #unwatch: (() => void)[] = [];

  private constructor(executable: ExecutableData) {
    this.executable = executable;
  }

  /**
   * Resolves all names, prepares kernels and uploads constants. Takes over no device: whoever
   * created them destroys them, after {@link dispose}. Throws UsageError with every missing name,
   * UnsupportedError, OutOfMemoryError, DeviceLostError, or the signal's reason.
   */
  static async create(
    executable: ExecutableData & { readonly data?: Uint8Array },
    options: MachineOptions,
  ): Promise<VirtualMachine> {
    const machine = new VirtualMachine(executable);
    checkOptions<MachineOptions>('VirtualMachine.create', options, MACHINE_OPTIONS);
    const { instrument, replay = true } = options;
    const stepping =
      instrument &&
      (await import('./profile/instrument-calls.ts')).instrumented(machine, instrument);
    const loaded = await loadMachine(executable, machine, options);
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    const devices = [...new Set(options.devices)];
    const { linked, state, libraries } = loaded;
    const runner = new CallRunner(executable, linked, {
      limits,
      devices,
      libraries,
      state,
      replay,
      stepping,
    });
    machine.#internals = { ...loaded, runner };
    for (const device of devices) {
      machine.#unwatch.push(onDeviceLoss(device, (error) => machine.#stop(error)));
    }
    return machine;
  }

  /** A function of the executable. Throws UsageError for a name that it does not have. */
  get(name: string): MachineFunction {
    this.#function(name);
    return (...args) => this.invoke(name, args);
  }

  /** Calls a function. Rejects with the signal's reason when it is aborted before the end. */
  async invoke(
    name: string,
    args: readonly HostInput[] = [],
    options: InvokeOptions = {},
  ): Promise<Value> {
    return (await this.call(name, args, options)).value;
  }

  /** @internal {@link invoke}, which also counts instructions. */
  async call(
    name: string,
    inputs: readonly HostInput[],
    options: InvokeOptions,
  ): Promise<CallOutcome> {
    checkOptions<InvokeOptions>('invoke', options, INVOKE_OPTIONS);
    requireKind('invoke', 'list', ['arguments that are', inputs]);
    const callee = this.#function(name);
    const { runner: own, state } = this.#live();
    const { runner = own } = options;
    const args = this.#takeArguments(callee, inputs, options);
    let outcome: Promise<CallOutcome>;
    try {
      const checked = checkArguments(callee.source, args);
      if (checked === undefined) {
        const { explainArguments } = await import('./values/explain-arguments.ts');
        throw explainArguments(callee.source, args);
      }
      for (const observer of state.observers) observer.called(callee.source, checked);
      outcome = runner.call({ callee, args: checked, signal: options.signal });
    } finally {
      for (const arg of args) unhold(arg);
    }
    return await outcome;
  }

  /** Calls a function and records every launch. Other calls in flight are recorded with it. */
  async profile(
    name: string,
    args: readonly HostInput[] = [],
    options: InvokeOptions = {},
  ): Promise<Profile> {
    const callee = this.#function(name);
    const held = toArguments(args, this.#live(), callee.source);
    try {
      const { profileCall } = await import('./observe/observe.ts');
      return await profileCall(this, () => this.call(name, held, options));
    } finally {
      for (const arg of held) unhold(arg);
    }
  }

  /** Types of parameters and results, where the function promises any. */
  signature(name: string): FunctionSignature | undefined {
    return this.#function(name).source.signature;
  }

  /**
   * A closure or packed function as a JS function, which holds one reference to it for good. Arguments are
   * converted by a type, where there is one.
   */
  toFunction(callee: Value, type?: FunctionType): MachineFunction {
    retain(callee);
    return async (...inputs) => {
      const { state, linked, border } = this.#live();
      const typed = type && border?.arguments(type, inputs);
      for (const value of typed ?? []) retain(value);
      const args = typed ?? toArguments(inputs, { state });
      try {
        const call = closureCall(linked, callee, args);
        if (call.callee instanceof PackedFunctionValue) {
          const result = await call.callee.call(...call.args);
          retain(result);
          return result;
        }
        const { callee: target, args: all } = call;
        const start = (invocation: Invocation): void => {
          invocation.push(target, registersOf(target, all));
        };
        const { value } = await this.#live().runner.run(start);
        return value;
      } finally {
        for (const arg of args) unhold(arg);
      }
    };
  }

  /** Uploads a tensor (device 0: the session's, 1: the host). The caller owns one reference. */
  tensor(tensor: HostTensor, deviceIndex = 0): TensorValue {
    requireKind('tensor', HOST_TENSOR, ['what is', tensor]);
    const { state } = this.#live();
    const value = state.upload(tensor, deviceIndex);
    retain(value);
    return value;
  }

  /**
   * Contents of tensors after all work launched so far, in one round trip for each device. They may
   * come in buffers of `room` that are as long as they are, whose owner then has them no more.
   */
  async read(
    tensors: readonly TensorValue[],
    room?: readonly ArrayBuffer[],
  ): Promise<HostTensor[]> {
    this.#live();
    requireKind('read', listOf(TENSOR), ['tensors that are', tensors]);
    return readTensors(tensors, room);
  }

  /** Contents of a tensor in host memory; undefined where reading has to wait for a device. */
  readSync(tensor: TensorValue): HostTensor | undefined {
    this.#live();
    return readTensorSync(tensor);
  }

  /** Counts one more reference to a value, for a second owner. */
  retain(value: Value): void {
    retain(value);
  }

  /** Drops one reference that the caller owns. Allowed after {@link dispose}, without effect. */
  release(value: Value): void {
    release(value);
  }

  /** Counters in bytes; all zero after {@link dispose}. */
  memory(): MemoryReport {
    return memoryReport(this.#internals?.state.allocators ?? []);
  }

  /** How many calls were interpreted, recorded and repeated. */
  replays(): ReplayCounters {
    return this.#live().runner.replayCounters();
  }

  /**
   * Measures the variants of one kernel of the first device, `index` of `count`, for the sizes of its
   * latest calls, and uses the fastest from now on. Call while nothing else uses the device, or with
   * turns. Rejects with OutOfMemoryError, DeviceLostError or the signal's reason.
   */
  async tune(index: number, options?: TuneOptions): Promise<TuningStep> {
    const { libraries, runner } = this.#live();
    const library = libraries.find(({ tune }) => tune !== undefined);
    const onChange = (): void => runner.forgetReplays();
    return (await library?.tune?.(index, { ...options, onChange })) ?? { count: 0, kernels: [] };
  }

  /** Gives pooled buffers back to the devices; returns their bytes. */
  trim(): number {
    const allocators = new Set(this.#live().state.allocators);
    return [...allocators].reduce((sum, allocator) => sum + allocator.trim(), 0);
  }

  /** Frees all memory and kernels. Every call in flight and every later one rejects. Idempotent. */
  dispose(): void {
    this.#stop(
      new UsageError({
        where: 'virtual machine',
        got: 'a call of a machine that was disposed of',
        expected: 'a live machine',
        remedy: 'Load the executable again.',
      }),
    );
  }

  /** @internal What `snapshot/` works on. */
  internals(): MachineInternals {
    return this.#live();
  }

  /** Calls {@link dispose} at the end of a block with `using`. */
  [DISPOSE](): void {
    this.dispose();
  }

  #stop(error: Error): void {
    if (this.#internals === undefined) return;
    const { runner, libraries, constants, state } = this.#internals;
    this.#end = error;
    this.#internals = undefined;
    for (const unwatch of this.#unwatch) unwatch();
    runner.end(error);
    for (const library of libraries) library.dispose();
    constants.dispose();
    for (const allocator of new Set(state.allocators)) allocator.dispose();
  }

  #live(): MachineInternals {
    if (this.#internals !== undefined) return this.#internals;
    throw this.#end ?? internalError('the machine is used while it loads');
  }

  #function(name: string): LinkedFunction {
    const { functions } = this.#live().linked;
    const found = functions.find(({ source }) => source.name === name);
    if (found !== undefined) return found;
    throw new UsageError({
      where: 'virtual machine',
      got: `the function name ${JSON.stringify(name)}`,
      expected: `one of ${shortList(functions.map(({ source }) => source.name))}`,
    });
  }

  /** Values that are held, and those that are given away by nobody else. */
  #takeArguments(
    callee: LinkedFunction,
    inputs: readonly HostInput[],
    { signal, donate = [] }: InvokeOptions,
  ): Value[] {
    try {
      if (signal?.aborted === true) throw abortError(signal);
      return toArguments(inputs, this.#live(), callee.source);
    } finally {
      for (const index of donate) {
        const given = inputs[index];
        if (given instanceof TensorValue) release(given);
      }
    }
  }
}

/** Values that are held: the caller of this function ends that. */
function toArguments(
  inputs: readonly HostInput[],
  { state, border }: Pick<LoadedMachine, 'state'> & Partial<LoadedMachine>,
  callee?: BytecodeFunction,
): Value[] {
  const values: Value[] = [];
  try {
    for (const [index, input] of inputs.entries()) {
      if (input instanceof TensorValue) requireLive(input, `argument ${index}`);
      const typed = callee && border?.argument(callee, index, input);
      const value = typed ?? toValue(input, `argument ${index}`, state);
      hold(value);
      values.push(value);
    }
  } catch (error) {
    for (const value of values) unhold(value);
    throw error;
  }
  return values;
}

/**
 * Arguments from outside for a function, ints turned to floats where its signature says so; undefined
 * where number, kinds, dtypes, ranks or dimensions do not fit, or a symbol has two meanings:
 * `explainArguments` says which. A function without a signature takes anything.
 */
function checkArguments(
  { paramNames, signature }: BytecodeFunction,
  args: readonly Value[],
): Value[] | undefined {
  if (args.length !== paramNames.length) return undefined;
  const types = signature?.params ?? [];
  const checked = args.map((arg, i) =>
    types[i]?.kind === 'float' && typeof arg === 'number' ? new FloatValue(arg) : arg,
  );
  const symbols = new Map<string, number>();
  const areFit = (): boolean =>
    types.every((type, i) => {
      const value = checked[i] ?? null;
      if (type.kind === 'tensor') return value instanceof TensorValue && fits(value, type, symbols);
      if (type.kind === 'float') return value instanceof FloatValue;
      return type.kind === 'any' || typeof value === 'number';
    });
  // Expressions are checked by the second look, when all symbols are known.
  return areFit() && areFit() ? checked : undefined;
}
