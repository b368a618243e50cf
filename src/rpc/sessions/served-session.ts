import type { Executable } from '../../bytecode/file/executable-file.ts';
import type { Clock } from '../../core/async/clock.ts';
import { UnsupportedError, UsageError } from '../../core/errors.ts';
import { withinRunTime } from '../../core/async/within-run-time.ts';
import type { MachineOptions } from '../../runtime/load-machine.ts';
import { TensorValue } from '../../runtime/value.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { describePlace, requested } from '../../worker/host/describe-place.ts';
import { HostedSession } from '../../worker/host/hosted-session.ts';
import { LoadRecord } from '../../worker/host/load-record.ts';
import type { RunRequest } from '../../worker/protocol/run-request.ts';
import type { WireResult } from '../../worker/protocol/wire-value.ts';
import type { SessionDevices } from '../../worker/host/shared-use.ts';
import { startControl } from '../../worker/tools/start-control.ts';
import {
  machineOptions,
  type RequestLimits,
  withinCeilings,
} from '../../worker/host/within-ceilings.ts';
import { objectOf, textOf } from '../values/checked-values.ts';
import type { WorkEvent } from '../served-device.ts';
import {
  type CallContext,
  type RpcFunction,
  type RpcTarget,
  RpcTuple,
  type RpcValue,
} from '../values/rpc-value.ts';
import { defineTarget } from '../targets.ts';
import { malformed } from '../values/wire-values.ts';
import { controlRequest, indicesOf, namesOf, programLimits, sizesOf } from './checked-requests.ts';
import { type AskedProgram, calledPage } from './called-page.ts';
import { deviceEnds, keptTensor } from './device-ends.ts';
import type { HeldRun, HeldRuns } from './held-runs.ts';
import type { RunByOrders } from './run-by-orders.ts';
import {
  fromRpcValues,
  type SessionCall,
  type SessionEnds,
  toRpcResults,
} from './session-messages.ts';

/** A program that is to be a session. */
export interface ServedProgram {
  readonly executable: Executable;
  readonly devices: SessionDevices;
  /** The functions that the program may call by name. */
  readonly functions: (machine: () => VirtualMachine) => MachineOptions['functions'];
  readonly createAllocator: (limits: RequestLimits) => MachineOptions['createAllocator'];
  /** The limits of the server, which no request exceeds. */
  readonly ceilings: RequestLimits;
  /** Runs that the connection holds. */
  readonly heldRuns: HeldRuns;
  readonly clock?: Clock | undefined;
  readonly onEvent?: ((event: WorkEvent) => void) | undefined;
  readonly onDispose: (session: ServedSession) => void;
}

type Calls = Record<
  SessionCall,
  (args: readonly RpcValue[], context: CallContext) => Promise<RpcValue>
>;

/**
 * A session as a page has it in its worker, on a device that is served. The other side gets a function of
 * the names of its calls; when that is released, the session is over.
 */
export class ServedSession {
  /** The methods that the other side calls. */
  readonly callee: RpcFunction;
  /** Functions, device and placements as JSON. */
  readonly description: string;
  readonly #hosted: HostedSession;
  readonly #program: ServedProgram;
  readonly #calls: Calls;
  readonly #ends: SessionEnds;
  readonly #held = new Set<HeldRun>();
  #isDisposed = false;

  static async open(
    program: ServedProgram,
    asked: AskedProgram,
    signal: AbortSignal,
  ): Promise<ServedSession> {
    const { executable, devices, ceilings } = program;
    const request = programLimits(objectOf(asked.limits));
    let opened: HostedSession | undefined;
    const ends = deviceEnds(() => {
      if (opened === undefined) throw malformed('a value of a session that is not open');
      return opened;
    });
    const page = await calledPage(asked, ends);
    const limits = { ...request, ...withinCeilings(request, ceilings) };
    const [main, host] = [devices.main.device, devices.host.device];
    const reason = requested(main.kind);
    const placeOf = await describePlace(executable, devices, { reason });
    const loaded = new LoadRecord();
    const machine: VirtualMachine = await VirtualMachine.create(executable, {
      ...machineOptions(limits, { deviceTimeout: limits.deviceTimeout, blame: 0 }),
      devices: host === main ? [main] : [main, host],
      functions: {
        ...program.functions(() => machine),
        ...page?.functionsFor(executable),
      },
      createAllocator: program.createAllocator(limits),
      signal,
      log: () => undefined,
      onProgress: loaded.hear('machine', () => undefined, loaded.beginMs),
    });
    const hosted = new HostedSession(executable, machine, devices);
    loaded.endMs = performance.now();
    hosted.loaded = loaded;
    opened = hosted;
    if (page !== undefined) page.called.keeper = hosted;
    hosted.runTimeout = limits.runTimeout;
    if (program.clock !== undefined) hosted.clock = program.clock;
    return new ServedSession(hosted, program, { ends, place: placeOf(machine) });
  }

  private constructor(
    hosted: HostedSession,
    program: ServedProgram,
    { ends, place }: { readonly ends: SessionEnds; readonly place: object },
  ) {
    this.description = JSON.stringify({ functions: hosted.functions, ...place });
    this.#hosted = hosted;
    this.#ends = ends;
    this.#program = program;
    this.#calls = this.#service();
    const call: Calls[SessionCall] = async ([name, ...args], context) => {
      const known = textOf(name);
      if (!Object.hasOwn(this.#calls, known)) throw malformed('a call that no session has');
      return this.#calls[known as SessionCall](args, context);
    };
    const callee: RpcFunction = (...args) =>
      call(args, { signal: new AbortController().signal, keep: false });
    const release = (): void => this.dispose();
    this.callee = defineTarget(callee, { name: 'session', ownsResults: true, call, release });
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#program.onDispose(this);
    for (const held of this.#held) held.end(runOver());
    void this.#hosted.dispose();
  }

  /** Arguments are taken before anything is awaited, as {@link HostedSession.withArguments} does. */
  #service(): Calls {
    const hosted = this.#hosted;
    return {
      run: async (args, { signal, keep }) => {
        const request = this.#request(args, keep);
        return this.#results(
          await this.#watched(request.functionName, hosted.run(request, signal)),
        );
      },
      profile: async (args, { signal, keep }) => {
        const request = this.#request(args, keep);
        const profiled = hosted.profile(request, signal);
        const { results, ...measured } = await this.#watched(request.functionName, profiled);
        return new RpcTuple([this.#results(results), JSON.stringify(measured)]);
      },
      warmup: async ([dims], { signal }) => {
        const sizes = sizesOf(dims);
        await withinRunTime((ended) => hosted.warmup(sizes, ended), signal, hosted);
        return null;
      },
      read: async ([handle]) => {
        const value = await hosted.read(keptTensor(hosted, handle).handle);
        return this.#results([{ name: '', value }]);
      },
      memory: async () => JSON.stringify(hosted.memory()),
      listing: () => hosted.listing(),
      control: async ([request, args, bytes], { signal }) => {
        const asked = controlRequest(objectOf(request), bytes);
        if (asked.kind === 'tune') throw notTuned();
        const given = { ...asked, args: this.#wires(args) };
        const { results, ...reply } = await startControl(hosted, given, {
          signal,
          states: undefined,
        });
        return new RpcTuple([this.#results(results), JSON.stringify(reply)]);
      },
      constants: async ([sent]) => {
        const { values } = hosted.machine.internals().constants;
        const asked = indicesOf(sent).map((index) => {
          const value = values[index];
          if (value instanceof TensorValue) return value;
          throw malformed('a constant that is no tensor');
        });
        return new RpcTuple(await hosted.device.share(() => hosted.machine.read(asked)));
      },
      watch: async ([name, args, keepsInputs]) => {
        const loading = import('./served-watch.ts');
        return this.#hold(
          { functionName: textOf(name), args: this.#wires(args) },
          async (parts) => {
            const { ServedWatch } = await loading;
            return new ServedWatch(hosted, { ...parts, keepsInputs: keepsInputs === 1 });
          },
        );
      },
      debug: async ([name, args]) => {
        const loading = import('./served-debug.ts');
        return this.#hold(
          { functionName: textOf(name), args: this.#wires(args) },
          async (parts) => {
            const { ServedDebug } = await loading;
            const toResults = (results: readonly WireResult[]) => this.#results(results);
            return new ServedDebug(hosted, { ...parts, toResults });
          },
        );
      },
    };
  }

  /** Begins a run that goes on by orders of the other side, and gives the function that takes them. */
  #hold(
    request: Pick<RunRequest, 'functionName' | 'args'>,
    open: (parts: {
      readonly functionName: string;
      readonly held: HeldRun;
    }) => Promise<RunByOrders>,
  ): RpcFunction {
    const { functionName } = request;
    const held = this.#program.heldRuns.begin(this.#hosted.runTimeout);
    this.#held.add(held);
    const opened = open({ functionName, held });
    const running = this.#hosted.withArguments(request, async (inputs) =>
      (await opened).run(inputs),
    );
    this.#watched(functionName, running)
      .finally(() => this.#held.delete(held))
      .then(
        () => held.finish(runOver()),
        (error) => held.end(error),
      );
    const call: RpcTarget['call'] = (args, { signal }) =>
      held.order(async () => (await opened).order(args, signal));
    const callee: RpcFunction = (...args) =>
      call(args, { signal: new AbortController().signal, keep: false });
    const release = (): void => held.end(runOver());
    return defineTarget(callee, { name: 'run', ownsResults: true, call, release });
  }

  #request([name, args, names, callee]: readonly RpcValue[], isKept: boolean): RunRequest {
    const { keep = isKept ? 'device' : 'host', donate } = namesOf(names);
    const functionName = textOf(name);
    const request: RunRequest = { session: 0, functionName, args: this.#wires(args), keep, donate };
    if (callee === undefined) return request;
    const called = typeof callee === 'function' ? this.#ends.fromFunction(callee) : undefined;
    if (called?.kind !== 'closure') throw malformed('a call of a function that is not its');
    return { ...request, callee: called.handle };
  }

  async #watched<T>(name: string, work: Promise<T>): Promise<T> {
    const { onEvent } = this.#program;
    onEvent?.({ kind: 'call', function: name });
    try {
      return await work;
    } finally {
      onEvent?.({ kind: 'done', function: name });
    }
  }

  #wires(args: RpcValue | undefined) {
    return fromRpcValues(args, this.#ends);
  }

  #results(results: readonly WireResult[]): RpcTuple {
    return toRpcResults(results, this.#ends);
  }
}

function runOver(): UsageError {
  return new UsageError({
    where: 'remote session',
    got: 'an order for a run that is over',
    expected: 'a run that is open',
  });
}

function notTuned(): UnsupportedError {
  return new UnsupportedError({
    where: 'tune',
    got: 'a remote device',
    expected: 'a local device',
    remedy: 'Tune where the device is lent: the choices apply to all its users.',
  });
}
