import type { ExecutableData, FullType } from '../../bytecode/executable.ts';
import { CLOCK, type Clock } from '../../core/async/clock.ts';
import { DeviceLostError, UsageError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { untilAborted } from '../../core/async/until-aborted.ts';
import { foldValues } from '../../core/contracts/value-fold.ts';
import { withinRunTime } from '../../core/async/within-run-time.ts';
import type { HostInput } from '../../runtime/link/host-function.ts';
import type { HostStates } from '../../runtime/snapshot/take-snapshot.ts';
import type { FunctionType } from '../../runtime/values/typed-values.ts';
import { AdtValue, type TensorValue, type Value } from '../../runtime/values/value.ts';
import type { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { describeFunctions } from './describe-functions.ts';
import type { SharedDevice } from '../devices/device-pool.ts';
import { HandleTable } from './handle-table.ts';
import { HOST_FORMS } from './host-forms.ts';
import type { HeldFunction, HeldFunctions } from './held-functions.ts';
import type { LoadRecord } from './load-record.ts';
import type { ControlReply, ControlRequest } from '../protocol/control-request.ts';
import type { Dims } from '../protocol/dispatch-sizes.ts';
import type { FunctionInfo } from '../protocol/loaded-session.ts';
import type { HandleId } from '../protocol/reply.ts';
import type { RunRequest, WireProfile } from '../protocol/run-request.ts';
import type { SessionMemory } from '../protocol/session-memory.ts';
import {
  type CallPage,
  WIRE_SIDE,
  type WireForms,
  type WireResult,
  type WireTensor,
  type WireValue,
} from '../protocol/wire-value.ts';
import { PageObject } from './page-object.ts';
import { draftsOf, type FunctionValue } from './result-draft.ts';
import type { SessionDevices, SharedUse } from './shared-use.ts';

type Deliverable = Pick<RunRequest, 'functionName' | 'keep' | 'room'>;
type Given = Pick<RunRequest, 'args'> & Partial<Pick<RunRequest, 'functionName' | 'donate'>>;

/** The name of what a function that is a value gives. */
const CALLEE = { names: ['result'] } as const;

/** What comes with a request beside its own fields. */
export interface RequestContext {
  readonly signal: AbortSignal;
  readonly states?: HostStates | undefined;
  /** The most bytes of host memory that snapshots of a held run take. */
  readonly checkpointBytes?: number | undefined;
  /** Called when a run is held, and takes orders. */
  readonly onHeld?: (() => void) | undefined;
}

/** Pauses and stores a session, and looks inside it, with what these have to know between requests. */
export interface HostedTools {
  answer(
    request: ControlRequest,
    inputs: readonly HostInput[],
    context: RequestContext,
  ): Promise<ControlReply>;
}

export type LoadTools = () => Promise<{
  readonly SessionTools: new (session: HostedSession) => HostedTools;
}>;

/** What a session has beside its machine. */
export interface HostedParts {
  readonly devices: SessionDevices;
  readonly shared?: SharedUse | undefined;
  readonly runTimeout?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly loaded?: LoadRecord | undefined;
  /** Default: a table of its own. */
  readonly table?: HandleTable<HostedSession> | undefined;
  /** Loads the code that answers requests, which every session has by itself. */
  readonly loadTools: LoadTools;
}

/** A machine with what the page holds of it. */
export class HostedSession {
  readonly executable: ExecutableData;
  machine: VirtualMachine;
  readonly functions: readonly FunctionInfo[];
  /** Its part of the device, where it shares that. */
  readonly shared: SharedUse | undefined;
  /** The most milliseconds that a run may take; see `ProgramLimits`. */
  readonly runTimeout: number | undefined;
  readonly clock: Clock;
  /** How it was loaded; undefined where nobody noted it down. */
  readonly loaded: LoadRecord | undefined;
  /** Hears of each run before it begins. */
  onRun: ((request: RunRequest) => void) | undefined;
  readonly #loadTools: LoadTools;
  #tools: HostedTools | undefined;
  /** A promise that a call waits for before it begins. */
  #ready: Promise<unknown> | undefined;
  #devices: SessionDevices;
  readonly #uses = new Set<Promise<unknown>>();
  /** Functions of the page that are at work for a run, which waits for them. */
  #pageCalls = 0;
  readonly #handles = new Map<HandleId, TensorValue>();
  /** Those that the page holds, once there are any. */
  #functions: HeldFunctions | undefined;
  /** Those of other sessions too, where a worker has several. */
  readonly table: HandleTable<HostedSession>;
  /** How many runs and results of other sessions read memory of this one. */
  #readers = 0;
  #isDisposed = false;
  /** Handles below this one went with a device. */
  #firstHandle = 1;

  constructor(executable: ExecutableData, machine: VirtualMachine, parts: HostedParts) {
    const { devices, table = new HandleTable(), clock = CLOCK } = parts;
    this.executable = executable;
    this.machine = machine;
    this.shared = parts.shared;
    this.runTimeout = parts.runTimeout;
    this.clock = clock;
    this.loaded = parts.loaded;
    this.table = table;
    this.functions = describeFunctions(executable);
    this.#devices = devices;
    this.#loadTools = parts.loadTools;
  }

  get device(): SharedDevice {
    return this.#devices.main;
  }

  /** See {@link RebuildableSession}. */
  replace(machine: VirtualMachine, devices: SessionDevices): void {
    for (const handle of this.#handles.keys()) this.table.drop(handle);
    this.#handles.clear();
    this.#functions?.clear();
    this.#firstHandle = this.table.next;
    this.#releaseDevices();
    this.machine = machine;
    this.#devices = devices;
  }

  run(request: RunRequest, signal: AbortSignal, callPage?: CallPage): Promise<WireResult[]> {
    if (request.callee === undefined) this.onRun?.(request);
    const run = (ended: AbortSignal) => this.#run(request, ended, callPage);
    return withinRunTime(run, signal, this);
  }

  #run(
    request: RunRequest,
    signal: AbortSignal,
    callPage: CallPage | undefined,
  ): Promise<WireResult[]> {
    const { callee, functionName } = request;
    // Taken now, as arguments are: it may be disposed of right after the call.
    const held = callee === undefined ? undefined : this.#heldFunction(callee);
    this.#checkNames(request);
    if (held !== undefined) this.machine.retain(held.value);
    const run: WithInputs<WireResult[]> = (args, take) =>
      this.device.share(async () => {
        const result = held
          ? await untilAborted(held.call(...args), signal)
          : await this.machine.invoke(functionName, args, { signal, donate: take() });
        return this.deliver(request, result, { callee: held, signal });
      }, signal);
    const done = this.#use(() => this.withArguments(request, run, callPage), signal);
    return held ? done.finally(() => this.machine.release(held.value)) : done;
  }

  #heldFunction(handle: HandleId): HeldFunction {
    const held = this.#functions?.get(handle);
    if (held !== undefined) return held;
    throw new UsageError('The session gave no function.');
  }

  /** Runs while no other session uses the device, so that all launches are this run's. */
  profile(request: RunRequest, signal: AbortSignal, callPage?: CallPage): Promise<WireProfile> {
    const run = (ended: AbortSignal) => this.#profile(request, ended, callPage);
    return withinRunTime(run, signal, this);
  }

  #profile(
    request: RunRequest,
    signal: AbortSignal,
    callPage: CallPage | undefined,
  ): Promise<WireProfile> {
    this.#checkNames(request);
    const work: WithInputs<WireProfile> = async (args, take) => {
      const start = performance.now();
      const options = { signal, donate: take() };
      const profile = await this.machine.profile(request.functionName, args, options);
      await this.device.device.synchronize();
      const totalMs = performance.now() - start;
      const { timings: kernels, instructionCount: instructions } = profile;
      const results = await this.deliver(request, profile.result, { signal });
      return { results, kernels, totalMs, instructions };
    };
    const run: WithInputs<WireProfile> = (args, take) =>
      this.device.exclude(() => work(args, take), signal);
    return this.#use(() => this.withArguments(request, run, callPage), signal);
  }

  async warmup(dims: Dims, signal: AbortSignal): Promise<void> {
    const { warmupCall } = await import('../tools/warmup-call.ts');
    const call = warmupCall(this.executable, dims);
    if (call === undefined) return;
    const run = async (): Promise<void> => {
      this.machine.release(await this.machine.invoke(call.name, call.args, { signal }));
      await this.device.device.synchronize();
    };
    await this.#use(() => this.device.share(run, signal), signal);
  }

  read(handle: HandleId): Promise<WireTensor> {
    return this.#use(() => this.#read(handle), undefined, true);
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

  /** Pauses or stores it, or looks inside. Runs that come later do not overtake the request. */
  control(request: ControlRequest, context: RequestContext): Promise<ControlReply> {
    const loading = this.#loadTools();
    const done = this.withArguments(request, async (inputs) => {
      const { SessionTools } = await loading;
      this.#tools ??= new SessionTools(this);
      return this.#tools.answer(request, inputs, context);
    });
    this.#ready = loading;
    return done;
  }

  countPageCalls(change: 1 | -1): void {
    this.#pageCalls += change;
  }

  /** What the functions of the page call does not wait for the run that waits for them. */
  #use<T>(work: () => Promise<T>, signal?: AbortSignal, joins = this.#pageCalls > 0): Promise<T> {
    if (this.shared === undefined) return work();
    const use = this.shared.use(work, signal, joins);
    this.#uses.add(use);
    return use.finally(() => this.#uses.delete(use));
  }

  #release(handle: HandleId): void {
    const tensor = this.#handles.get(handle);
    if (tensor !== undefined) this.machine.release(tensor);
    else if (this.#functions?.release(handle, this.machine) !== true) return;
    this.#handles.delete(handle);
    this.table.drop(handle);
  }

  /** Drops a tensor that the page holds, of whichever session it is. */
  #releaseKept(handle: HandleId): void {
    (this.table.get(handle)?.keeper ?? this).#release(handle);
  }

  /** Call when no run is under way any more. Memory that others read stays until they are done. */
  dispose(): Promise<void> | undefined {
    for (const handle of this.#handles.keys()) this.#release(handle);
    for (const handle of this.#functions?.handles() ?? []) this.#release(handle);
    this.#isDisposed = true;
    if (this.#readers === 0) this.#end();
    return this.shared?.dispose();
  }

  /** See {@link Keeper}. Sessions that share their device have no readers. */
  addReader(): void {
    this.#readers++;
  }

  removeReader(): void {
    this.#readers--;
    if (this.#isDisposed && this.#readers === 0) this.#end();
  }

  #end(): void {
    this.machine.dispose();
    this.#releaseDevices();
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
      functions: this.#functions?.size ?? 0,
      ...(sharing && { sharing }),
    };
  }

  /**
   * Takes the arguments before anything is awaited: a handle that is disposed of right after the
   * call is still good for it. The call then owns tensors that came with it, and those that the
   * page donates. A session that shares its device keeps the latter to the end, since the run may
   * start again.
   */
  async withArguments<T>(request: Given, call: WithInputs<T>, callPage?: CallPage): Promise<T> {
    const held: Value[] = [];
    const owners: HostedSession[] = [];
    const owned = new Map<number, Value>();
    const hold = <T extends Value>(value: T): T => {
      held.push(value);
      return value;
    };
    const retained = <T extends Value>(value: T): T => {
      this.machine.retain(value);
      return hold(value);
    };
    const { int, float, string, shape } = HOST_FORMS;
    const toInput = foldValues<WireForms, HostInput>(WIRE_SIDE, {
      // One by one: to spread them takes longer than all else here.
      null: () => null,
      int,
      float,
      string,
      shape,
      tensor: (wire) =>
        hold(this.machine.tensor(new HostTensor(wire.dtype, wire.shape, wire.data))),
      handle: ({ handle }) => retained(this.#resolve(handle, owners)),
      closure: ({ handle }) => retained(this.#heldFunction(handle).value),
      packed: ({ name, call = callPage }) => this.#pageFunction(name, call),
      opaque: (wire) => new PageObject(wire, callPage),
      adt: ({ tag, name }, fields) => {
        if (name === '') return fields;
        if (name !== undefined) return { constructor: name, fields };
        return retained(new AdtValue(tag, fields as readonly Value[]));
      },
    });
    const take = (): readonly number[] => {
      const positions = [...owned.keys()];
      owned.clear();
      return positions;
    };
    const donated = this.#donatedBy(request);
    try {
      const args = request.args.map((arg, index) => {
        const input = toInput(arg);
        const isOwned = arg.kind === 'tensor' || (donated.has(index) && !this.shared);
        if (isOwned) owned.set(index, held.pop() ?? null);
        return input;
      });
      if (!this.shared) for (const handle of donated.values()) this.#releaseKept(handle);
      if (this.#ready !== undefined) await this.#ready;
      const result = await call(args, take);
      for (const handle of donated.values()) this.#releaseKept(handle);
      return result;
    } finally {
      for (const value of [...held, ...owned.values()]) this.machine.release(value);
      for (const owner of owners) owner.removeReader();
    }
  }

  /** Handles by the positions of parameters that a request donates. */
  #donatedBy({ args, donate = [], functionName }: Given): ReadonlyMap<number, HandleId> {
    const params = this.#infoOf(functionName)?.params ?? [];
    const donated = new Map<number, HandleId>();
    for (const [index, arg] of args.entries()) {
      const isDonated = donate.includes(params[index]?.name ?? '');
      if (arg.kind === 'handle' && isDonated) donated.set(index, arg.handle);
    }
    return donated;
  }

  #infoOf(functionName: string | undefined): FunctionInfo | undefined {
    return this.functions.find(({ name }) => name === functionName);
  }

  /** Throws UsageError for names that the function does not have. */
  #checkNames({ callee, functionName, donate = [], keep = 'host' }: RunRequest): void {
    const info = callee === undefined ? this.#infoOf(functionName) : undefined;
    checkNames('donate', donate, info?.params.map(({ name }) => name) ?? []);
    const { names } = callee === undefined ? this.#resultsOf(functionName) : CALLEE;
    if (typeof keep !== 'string') checkNames('keep', keep, names);
  }

  /** A function of the page as an argument. It may be called after the run, by what the run returned. */
  #pageFunction(name: string, callPage: CallPage | undefined): HostInput {
    if (callPage === undefined) throw new UsageError(`The page gave no function ${name}.`);
    return async (...args: readonly Value[]) => {
      const { callFunction } = await import('./page-functions.ts');
      return callFunction(name, args, { callPage, keeper: this });
    };
  }

  /** With `owners` a tensor of another session is taken too; that session is added to them. */
  #resolve(handle: HandleId, owners?: HostedSession[]): TensorValue {
    const tensor = this.#handles.get(handle) ?? (owners && this.#fromOther(handle, owners));
    if (tensor !== undefined) return tensor;
    if (handle > 0 && handle < this.#firstHandle) {
      throw new DeviceLostError('The DeviceTensor was lost with its device.');
    }
    throw new UsageError({
      where: 'DeviceTensor',
      got: 'a handle that was disposed of',
      expected: 'a live one',
    });
  }

  /** A tensor of another session on the same device. One that shares its device may lose it at any time. */
  #fromOther(handle: HandleId, owners: HostedSession[]): TensorValue | undefined {
    const kept = this.table.get(handle);
    if (kept === undefined) return undefined;
    const { tensor, keeper } = kept;
    const { main, host } = this.#devices;
    const { device } = tensor.storage;
    if ((device === main.device || device === host.device) && !this.shared && !keeper.shared) {
      keeper.addReader();
      owners.push(keeper);
      return tensor;
    }
    throw new UsageError({
      where: 'DeviceTensor',
      got: 'a tensor of a session on another device, or of one that shares its device',
      expected: 'one of a session on the same device',
      remedy: 'Read it, and give the Tensor.',
    });
  }

  /** Reads or keeps what a function returned, and drops the reference to it. Behind an abort nothing is kept: nobody would drop it. */
  async deliver(
    request: Deliverable,
    result: Value,
    {
      callee,
      signal,
    }: { readonly callee?: HeldFunction | undefined; readonly signal?: AbortSignal } = {},
  ): Promise<WireResult[]> {
    const reading = this.#readResult(request, result, callee);
    const release = (): void => this.machine.release(result);
    try {
      return (await untilAborted(reading, signal))();
    } finally {
      // Also where nobody waits for what is still being read.
      void reading.then(release, release);
    }
  }

  /** Reads what is to be read; the function that it resolves to makes the handles. */
  async #readResult(
    request: Deliverable,
    result: Value,
    callee: HeldFunction | undefined,
  ): Promise<() => WireResult[]> {
    const { names, type } = callee
      ? { ...CALLEE, type: callee.type?.result }
      : this.#resultsOf(request.functionName);
    const parts = names.length === 1 ? [result] : fieldsOf(result);
    const held = parts.some(hasForms) ? await import('./held-functions.ts') : undefined;
    const types = held?.resultTypes(this.executable.types, result, type);
    // Before a handle is made: nobody would drop those of a result that cannot be delivered.
    const drafts = await draftsOf(
      parts,
      types?.names,
      held && ((value) => this.keepFunction(value, types?.functions.get(value), held.newHeld)),
    );
    const { keep = 'host' } = request;
    const isKept = names.map((name) =>
      typeof keep === 'string' ? keep === 'device' : keep.includes(name),
    );
    const tensors = [...new Set(drafts.flatMap((draft, i) => (isKept[i] ? [] : draft.tensors)))];
    // Nobody waits for what is kept; the device is to begin with it all the same.
    if (tensors.length === 0) this.device.device.flush();
    const read = tensors.length === 0 ? [] : await this.machine.read(tensors, request.room);
    const hosts = new Map(tensors.map((tensor, index) => [tensor, read[index]]));
    const make = (name: string, index: number): WireResult => {
      const toWire = (tensor: TensorValue): WireValue => {
        const host = isKept[index] ? undefined : hosts.get(tensor);
        return host === undefined ? this.#keep(tensor) : toWireTensor(host);
      };
      return { name, value: drafts[index]?.finish(toWire) ?? { kind: 'null' } };
    };
    return () => {
      let handle = this.table.next;
      try {
        return names.map(make);
      } catch (error) {
        // Beyond the limit of handles: nobody hears of those that were made before.
        for (; handle < this.table.next; handle++) this.#release(handle);
        throw error;
      }
    };
  }

  /** The names of the results of a function, and the type of what it gives. */
  #resultsOf(functionName: string): {
    readonly names: readonly string[];
    readonly type: FullType | undefined;
  } {
    const info = this.#infoOf(functionName);
    const types = this.executable.types?.functions.find(({ name }) => name === functionName);
    return { names: info?.results.map(({ name }) => name) ?? [], type: types?.result };
  }

  /** See {@link FunctionKeeper}. */
  keepFunction(
    value: FunctionValue,
    type: FunctionType | undefined,
    newHeld: () => HeldFunctions,
  ): WireValue {
    const handle = this.table.take();
    this.#functions ??= newHeld();
    this.#functions.keep(handle, value, { machine: this.machine, type });
    return { kind: 'closure', handle };
  }

  /** See {@link FunctionKeeper}. */
  functionOf(handle: HandleId): FunctionValue {
    return this.#heldFunction(handle).value;
  }

  /** A value as the page holds it, its tensors as handles. Drops the reference to it. */
  async handOver(value: Value): Promise<WireValue> {
    try {
      const [draft] = await draftsOf([value]);
      return draft?.finish((tensor) => this.#keep(tensor)) ?? { kind: 'null' };
    } finally {
      this.machine.release(value);
    }
  }

  #keep(tensor: TensorValue): WireValue {
    const handle = this.table.take();
    this.machine.retain(tensor);
    this.#handles.set(handle, tensor);
    this.table.keep(handle, tensor, this);
    return { kind: 'handle', handle, dtype: tensor.dtype, shape: tensor.shape };
  }
}

/** `take` gives the positions of arguments that the call takes over from then on. */
type WithInputs<T> = (args: readonly HostInput[], take: () => readonly number[]) => Promise<T>;

function checkNames(option: string, given: unknown, known: readonly string[]): void {
  if (Array.isArray(given) && given.every((name) => known.includes(name))) return;
  throw new UsageError({
    where: 'run',
    got: `${option} ${JSON.stringify(given)}`,
    expected: `a list of names among ${known.join(', ')}`,
  });
}

/** Returns true if a value is a function, or may have functions among its parts. */
function hasForms(value: Value): boolean {
  return /^(?:adt|closure|packed)$/.test((value as Partial<AdtValue> | null)?.kind ?? '');
}

function fieldsOf(result: Value): readonly Value[] {
  return result instanceof AdtValue ? result.fields : [result];
}

function toWireTensor({ dtype, shape, data }: HostTensor): WireTensor {
  return { kind: 'tensor', dtype, shape, data };
}
