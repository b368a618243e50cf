import { Deferred } from '../../core/async/deferred.ts';
import { UsageError } from '../../core/errors.ts';
import { untilAborted } from '../../core/async/until-aborted.ts';
import { MachineRun } from '../../runtime/compare/machine-run.ts';
import type { WatchedCall } from '../../runtime/compare/watched-run.ts';
import type { HostInput } from '../../runtime/host-function.ts';
import type { HostedSession } from '../../worker/host/hosted-session.ts';
import { textOf } from '../values/checked-values.ts';
import { RpcTuple, type RpcValue } from '../values/rpc-value.ts';
import { malformed } from '../values/wire-values.ts';
import type { HeldRun } from './held-runs.ts';
import type { RunByOrders } from './run-by-orders.ts';

interface WatchParts {
  readonly functionName: string;
  readonly keepsInputs: boolean;
  readonly held: HeldRun;
}

/**
 * A run for the other side, which stands after each call of a kernel. Orders: `next(reads)` goes on to the next one and gives
 * its kernel, its place as JSON or null, and with `reads` its results, and null at the end of the run; `results()` and
 * `inputs()` give the tensors of the call where it stands.
 */
export class ServedWatch implements RunByOrders {
  readonly #hosted: HostedSession;
  readonly #parts: WatchParts;
  readonly #begin = new Deferred();
  #call: { readonly watched: WatchedCall; readonly goOn: Deferred } | undefined;
  /** Settles when the run stands again, or is over. */
  #arrival = new Deferred();
  #isOver = false;
  #isBusy = false;

  constructor(hosted: HostedSession, parts: WatchParts) {
    this.#hosted = hosted;
    this.#parts = parts;
  }

  async run(inputs: readonly HostInput[]): Promise<void> {
    const { functionName, keepsInputs, held } = this.#parts;
    const { signal } = held;
    const watched = new MachineRun(this.#hosted.machine, inputs);
    try {
      await untilAborted(this.#begin.promise, signal);
      await watched.run((call) => this.#stand(call), {
        functionName,
        keepsInputs,
        readsResults: true,
        signal,
      });
      this.#isOver = true;
      this.#arrival.resolve();
    } catch (error) {
      this.#arrival.reject(error as Error);
      throw error;
    }
  }

  /** Carries out an order. Throws ProtocolError for a second one before the first is answered. */
  async order([name, reads]: readonly RpcValue[], signal: AbortSignal): Promise<RpcValue> {
    if (this.#isBusy) throw malformed('two orders for a watched run at a time');
    this.#isBusy = true;
    try {
      const work = () => this.#carryOut(textOf(name), reads === 1);
      return await untilAborted(this.#hosted.device.share(work, signal), signal);
    } finally {
      this.#isBusy = false;
    }
  }

  async #carryOut(name: string, reads: boolean): Promise<RpcValue> {
    switch (name) {
      case 'next':
        return this.#next(reads);
      case 'results':
        return new RpcTuple(await this.#standing().results());
      case 'inputs':
        return new RpcTuple(await this.#standing().inputs());
      default:
        throw malformed('an order that no watched run has');
    }
  }

  async #next(reads: boolean): Promise<RpcValue> {
    this.#begin.resolve();
    const left = this.#call;
    if (left !== undefined) {
      this.#call = undefined;
      this.#arrival = new Deferred();
      left.goOn.resolve();
    }
    await this.#arrival.promise;
    if (this.#isOver) return null;
    const call = this.#standing();
    const at = call.at === undefined ? null : JSON.stringify(call.at);
    const results = reads ? new RpcTuple(await call.results()) : null;
    return new RpcTuple([call.kernel, at, results]);
  }

  #stand(watched: WatchedCall): Promise<void> {
    const goOn = new Deferred();
    this.#call = { watched, goOn };
    this.#arrival.resolve();
    return untilAborted(goOn.promise, this.#parts.held.signal);
  }

  #standing(): WatchedCall {
    if (this.#call !== undefined) return this.#call.watched;
    throw new UsageError({
      where: 'remote session',
      got: 'a run that does not stand at a kernel',
      expected: 'one that has gone on to the next kernel',
    });
  }
}
