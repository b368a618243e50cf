import type { Executable } from '../../bytecode/executable-file.ts';
import { UnsupportedError } from '../../core/errors.ts';
import { withinRunTime } from '../../core/within-run-time.ts';
import type { MachineOptions } from '../../runtime/load-machine.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { describePlace, requested } from '../../worker/describe-place.ts';
import { HostedSession } from '../../worker/hosted-session.ts';
import type { RunRequest, WireHandle, WireResult } from '../../worker/protocol.ts';
import type { SessionDevices } from '../../worker/shared-use.ts';
import { startControl } from '../../worker/start-control.ts';
import {
  machineOptions,
  type RequestLimits,
  withinCeilings,
} from '../../worker/within-ceilings.ts';
import { objectOf, textOf } from '../checked-values.ts';
import type { WorkEvent } from '../served-device.ts';
import {
  type CallContext,
  type RpcFunction,
  RpcTuple,
  type RpcValue,
  type TensorHandle,
} from '../rpc-value.ts';
import { defineTarget } from '../targets.ts';
import { malformed } from '../wire-values.ts';
import { controlRequest, namesOf, programLimits, sizesOf } from './checked-requests.ts';
import { fromRpcValues, type SessionCall, toRpcResults } from './session-messages.ts';

/** A program that is to be a session. */
export interface ServedProgram {
  readonly executable: Executable;
  readonly devices: SessionDevices;
  /** The functions that the program may call by name. */
  readonly functions: (machine: () => VirtualMachine) => MachineOptions['functions'];
  readonly createAllocator: (limits: RequestLimits) => MachineOptions['createAllocator'];
  /** The server's limits. */
  readonly ceilings: RequestLimits;
  readonly onEvent?: ((event: WorkEvent) => void) | undefined;
  readonly onDispose: (session: ServedSession) => void;
}

/** A tensor that a session keeps for the other side. */
class KeptTensor implements TensorHandle {
  readonly kind = 'tensor handle';
  readonly session: HostedSession;
  readonly wire: WireHandle;

  constructor(session: HostedSession, wire: WireHandle) {
    this.session = session;
    this.wire = wire;
  }

  get dtype() {
    return this.wire.dtype;
  }

  get shape() {
    return this.wire.shape;
  }

  release(): void {
    this.session.release(this.wire.handle);
  }
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
  #isDisposed = false;

  /** `asked` are limits as JSON, which count as far as the server allows them. */
  static async open(
    program: ServedProgram,
    asked: RpcValue | undefined,
    signal: AbortSignal,
  ): Promise<ServedSession> {
    const { executable, devices, ceilings } = program;
    const request = programLimits(objectOf(asked));
    const limits = { ...request, ...withinCeilings(request, ceilings) };
    const [main, host] = [devices.main.device, devices.host.device];
    const reason = requested(main.kind);
    const placeOf = await describePlace(executable, devices, { reason });
    const machine: VirtualMachine = await VirtualMachine.create(executable, {
      ...machineOptions(limits, { deviceTimeout: limits.deviceTimeout, blame: 0 }),
      devices: host === main ? [main] : [main, host],
      functions: program.functions(() => machine),
      createAllocator: program.createAllocator(limits),
      signal,
      log: () => undefined,
    });
    const hosted = new HostedSession(executable, machine, devices);
    hosted.runTimeout = limits.runTimeout;
    hosted.givesFunctions = false;
    return new ServedSession(hosted, program, placeOf(machine));
  }

  private constructor(hosted: HostedSession, program: ServedProgram, place: object) {
    this.description = JSON.stringify({ functions: hosted.functions, ...place });
    this.#hosted = hosted;
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
        await withinRunTime((ended) => hosted.warmup(sizes, ended), signal, hosted.runTimeout);
        return null;
      },
      read: async ([handle]) => {
        const value = await hosted.read(this.#keptBy(handle).handle);
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
    };
  }

  #request([name, args, names]: readonly RpcValue[], isKept: boolean): RunRequest {
    const { keep = isKept ? 'device' : 'host', donate } = namesOf(names);
    return { session: 0, functionName: textOf(name), args: this.#wires(args), keep, donate };
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
    return fromRpcValues(args, (handle) => this.#keptBy(handle));
  }

  #results(results: readonly WireResult[]): RpcTuple {
    return toRpcResults(results, (wire) => new KeptTensor(this.#hosted, wire));
  }

  #keptBy(handle: RpcValue | undefined): WireHandle {
    if (handle instanceof KeptTensor && handle.session === this.#hosted) return handle.wire;
    throw malformed('a tensor that does not belong to the session');
  }
}

function notTuned(): UnsupportedError {
  return new UnsupportedError({
    where: 'tune',
    got: 'a remote device',
    expected: 'a local device',
    remedy: 'Tune where the device is lent: the choices apply to all its users.',
  });
}
