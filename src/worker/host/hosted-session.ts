import type { Clock } from '../../core/async/clock.ts';
import { untilAborted } from '../../core/async/until-aborted.ts';
import { withinRunTime } from '../../core/async/within-run-time.ts';
import { UsageError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { HostInput } from '../../runtime/link/host-function.ts';
import type { HostStates } from '../../runtime/snapshot/take-snapshot.ts';
import type { Value } from '../../runtime/values/value.ts';
import type { VirtualMachine } from '../../runtime/virtual-machine.ts';
import type { SharedDevice } from '../devices/device-pool.ts';
import type { ControlReply, ControlRequest } from '../protocol/control-request.ts';
import type { Dims } from '../protocol/dispatch-sizes.ts';
import type { FunctionInfo, ValueInfo } from '../protocol/loaded-session.ts';
import type { HandleId } from '../protocol/reply.ts';
import type { RunRequest, WireProfile } from '../protocol/run-request.ts';
import type { SessionMemory } from '../protocol/session-memory.ts';
import type { CallPage, WireResult, WireTensor } from '../protocol/wire-value.ts';
import { withArguments, type WithInputs } from './call-arguments.ts';
import { type HandleTable, HeldValues } from './held-values.ts';
import type { LoadRecord } from './load-record.ts';
import { readResult, type ResultForm, toWireTensor } from './read-result.ts';
import type { SessionDevices, SharedUse } from './shared-use.ts';
import type {
  BytecodeFunction,
  ExecutableData,
  FullType,
  NamedFunctionType,
  ValueType,
} from '../../bytecode/executable.ts';
import { formatFullType } from '../../bytecode/text/format-full-type.ts';
import { formatDim } from '../../core/dims/dim.ts';

/** Name of the result of a function without a signature. */
const UNNAMED_RESULT = 'result';

/**
 * The functions of an executable that a page may call: those with a signature. Private functions and closures have
 * none. In a program without signatures, one that was written as bytecode, all are.
 */
function describeFunctions({ functions, types }: ExecutableData): FunctionInfo[] {
  const full = new Map(types?.functions.map((type) => [type.name, type]));
  const typed = functions.filter(({ signature }) => signature !== undefined);
  const entries = typed.length > 0 ? typed : functions;
  return entries.map((fn) => describeFunction(fn, full.get(fn.name)));
}

function describeFunction(
  { name, paramNames, signature }: BytecodeFunction,
  full: NamedFunctionType | undefined,
): FunctionInfo {
  const params = paramNames.map((param, index) =>
    describeValue(param, signature?.params[index], full?.params[index]),
  );
  const fields = full?.result.kind === 'tuple' ? full.result.fields : [full?.result];
  const results = signature?.results.map((result, index) =>
    describeValue(result.name, result.type, fields[index]),
  );
  return { name, params, results: results ?? [describeValue(UNNAMED_RESULT, undefined)] };
}

function describeValue(name: string, type: ValueType | undefined, full?: FullType): ValueInfo {
  if (type?.kind !== 'tensor') {
    const info = { name, dtype: type?.kind ?? 'any', shape: [] } as const;
    const isKnown = info.dtype === 'any' && full !== undefined && full.kind !== 'any';
    return isKnown ? { ...info, type: formatFullType(full) } : info;
  }
  const shape = type.shape.map((dim) => (typeof dim === 'number' ? dim : formatDim(dim)));
  return { name, dtype: type.dtype, shape };
}

type Deliverable = Pick<RunRequest, 'functionName' | 'keep' | 'room'>;

interface DeliverOptions {
  /** Default: that of the function in the request. */
  readonly form?: ResultForm | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The name of what a function that is a value gives. */
const CALLEE = ['result'];

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

/** What answers a request, one for each session. */
export type LoadTools = (
  kind: ControlRequest['kind'],
) => Promise<new (session: HostedSession) => HostedTools>;

export interface RunObserver {
  observe(hosted: HostedSession, request: RunRequest): void;
}

/** What a session has beside its machine. */
interface HostedParts {
  readonly devices: SessionDevices;
  readonly shared?: SharedUse | undefined;
  readonly runTimeout?: number | undefined;
  readonly clock: Clock;
  readonly loaded?: LoadRecord | undefined;
  readonly observer?: RunObserver | undefined;
  readonly table: HandleTable;
  /** Loads the code that answers requests, which every session has by itself. */
  readonly loadTools: LoadTools;
}

/** A machine with what the page holds of it. */
export class HostedSession {
  machine: VirtualMachine;
  readonly functions: readonly FunctionInfo[];
  /** Its part of the device, where it shares that. */
  readonly shared: SharedUse | undefined;
  /** The most milliseconds that a run may take; see `ProgramLimits`. */
  readonly runTimeout: number | undefined;
  readonly clock: Clock;
  /** How it was loaded; undefined where it was not recorded. */
  readonly loaded: LoadRecord | undefined;
  readonly #observer: RunObserver | undefined;
  readonly #loadTools: LoadTools;
  readonly #tools = new Map<unknown, HostedTools>();
  /** Calls wait for it before they begin. */
  ready: Promise<unknown> | undefined;
  /** Replaced, as its machine is, when a device is lost. */
  devices: SessionDevices;
  readonly held: HeldValues;
  readonly #uses = new Set<Promise<unknown>>();
  /** Functions of the page that are at work for a run, which waits for them. */
  #pageCalls = 0;

  constructor(machine: VirtualMachine, parts: HostedParts) {
    const { devices, clock, table } = parts;
    this.machine = machine;
    this.shared = parts.shared;
    this.runTimeout = parts.runTimeout;
    this.clock = clock;
    this.loaded = parts.loaded;
    this.#observer = parts.observer;
    this.held = new HeldValues(this, table);
    this.functions = describeFunctions(machine.executable);
    this.devices = devices;
    this.#loadTools = parts.loadTools;
  }

  get device(): SharedDevice {
    return this.devices.main;
  }

  /** See {@link RebuildableSession}. */
  replace(machine: VirtualMachine, devices: SessionDevices): void {
    this.held.lose();
    this.#releaseDevices();
    this.machine = machine;
    this.devices = devices;
  }

  run(request: RunRequest, signal: AbortSignal, callPage?: CallPage): Promise<WireResult[]> {
    if (request.callee === undefined) this.#observer?.observe(this, request);
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
    const held = callee === undefined ? undefined : this.held.function(callee);
    this.#checkNames(request);
    if (held !== undefined) this.machine.retain(held.value);
    const run: WithInputs<WireResult[]> = (args, take) =>
      this.device.share(async () => {
        const result = held
          ? await untilAborted(held.call(...args), signal)
          : (await this.machine.call(functionName, args, { signal, donate: take() })).value;
        const form = held && { names: CALLEE, type: held.type?.result };
        return this.deliver(request, result, { form, signal });
      }, signal);
    const done = this.#use(() => withArguments({ session: this, callPage }, request, run), signal);
    return held ? done.finally(() => this.machine.release(held.value)) : done;
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
    const run: WithInputs<WireProfile> = (args, take) =>
      this.device.exclude(async () => {
        const start = performance.now();
        const options = { signal, donate: take() };
        const profile = await this.machine.profile(request.functionName, args, options);
        await this.device.device.synchronize();
        const totalMs = performance.now() - start;
        const { timings: kernels, instructionCount: instructions } = profile;
        const results = await this.deliver(request, profile.result, { signal });
        return { results, kernels, totalMs, instructions };
      }, signal);
    return this.#use(() => withArguments({ session: this, callPage }, request, run), signal);
  }

  async warmup(dims: Dims, signal: AbortSignal): Promise<void> {
    const { warmupCall } = await import('../tools/warmup-call.ts');
    const call = warmupCall(this.machine.executable, dims);
    if (call === undefined) return;
    const run = async (): Promise<void> => {
      this.machine.release(await this.machine.invoke(call.name, call.args, { signal }));
      await this.device.device.synchronize();
    };
    await this.#use(() => this.device.share(run, signal), signal);
  }

  read(handle: HandleId): Promise<WireTensor> {
    const read = async (): Promise<WireTensor> => {
      const tensor = this.held.tensor(handle);
      this.machine.retain(tensor);
      try {
        const [host] = await this.device.share(() => this.machine.read([tensor]));
        return toWireTensor(host ?? HostTensor.zeros(tensor.dtype, tensor.shape));
      } finally {
        this.machine.release(tensor);
      }
    };
    return this.#use(read, undefined, true);
  }

  release(handle: HandleId): void {
    // Calls that wait for their turn may have it as an argument.
    if (this.#uses.size === 0) this.held.release(handle);
    else void Promise.allSettled(this.#uses).then(() => this.held.release(handle));
  }

  /** Pauses or stores it, or looks inside. Runs that come later do not overtake the request. */
  control(request: ControlRequest, context: RequestContext): Promise<ControlReply> {
    const loading = this.#loadTools(request.kind);
    const done = withArguments({ session: this }, request, async (inputs) => {
      const Tools = await loading;
      const tools = this.#tools.get(Tools) ?? new Tools(this);
      this.#tools.set(Tools, tools);
      return tools.answer(request, inputs, context);
    });
    this.ready = loading;
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

  /** Call when no run is under way any more. Memory that others read stays until they are done. */
  dispose(): Promise<void> | undefined {
    this.held.dispose(() => {
      this.machine.dispose();
      this.#releaseDevices();
    });
    return this.shared?.dispose();
  }

  #releaseDevices(): void {
    this.devices.main.release();
    this.devices.host.release();
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
      functions: this.held.functionCount,
      ...(sharing && { sharing }),
    };
  }

  #infoOf(functionName: string): FunctionInfo | undefined {
    return this.functions.find(({ name }) => name === functionName);
  }

  /** Throws UsageError for names that the function does not have. */
  #checkNames({ callee, functionName, donate = [], keep = 'host' }: RunRequest): void {
    const info = callee === undefined ? this.#infoOf(functionName) : undefined;
    checkNames('donate', donate, info?.params.map(({ name }) => name) ?? []);
    const names = info?.results.map(({ name }) => name) ?? CALLEE;
    if (typeof keep !== 'string') checkNames('keep', keep, names);
  }

  /** Reads or keeps what a function returned, and drops the reference to it. Behind an abort nothing is kept: nobody would drop it. */
  async deliver(
    request: Deliverable,
    result: Value,
    { form = this.#formOf(request.functionName), signal }: DeliverOptions = {},
  ): Promise<WireResult[]> {
    const reading = readResult(this, form, result, request);
    const release = (): void => this.machine.release(result);
    try {
      return (await untilAborted(reading, signal))();
    } finally {
      // Also where nobody waits for what is still being read.
      void reading.then(release, release);
    }
  }

  #formOf(functionName: string): ResultForm {
    const info = this.#infoOf(functionName);
    const types = this.machine.executable.types?.functions.find(
      ({ name }) => name === functionName,
    );
    return { names: info?.results.map(({ name }) => name) ?? [], type: types?.result };
  }
}

function checkNames(option: string, names: unknown, known: readonly string[]): void {
  if (Array.isArray(names) && names.every((name) => known.includes(name))) return;
  throw new UsageError({
    where: 'run',
    got: `${option} ${JSON.stringify(names)}`,
    expected: `a list of names among ${known.join(', ')}`,
  });
}
