import { Deferred } from '../../core/async/deferred.ts';
import { UsageError } from '../../core/errors.ts';
import { untilAborted } from '../../core/async/until-aborted.ts';
import { MachineRun } from '../../runtime/compare/machine-run.ts';
import type { WatchedCall } from '../../runtime/compare/watched-run.ts';
import type { HostInput } from '../../runtime/link/host-function.ts';
import type { HostedSession } from '../../worker/host/hosted-session.ts';
import { defineTarget } from '../targets.ts';
import { oneOf } from '../values/checked-values.ts';
import type { RpcFunction } from '../values/rpc-value.ts';
import { malformed } from '../values/wire-values.ts';
import { type HeldRun, runOver } from './held-runs.ts';

interface WatchParts {
  readonly functionName: string;
  readonly keepsInputs: boolean;
  readonly held: HeldRun;
}

const orderOf = oneOf('next', 'results', 'inputs');

/**
 * A run for the other side, which stands after each call of a kernel. Orders: `next(reads)` goes on to the next one and gives
 * its kernel, its place, and with `reads` its results, or null at the end of the run; `results()` and `inputs()` give the
 * tensors of the call where it stands.
 */
export class ServedWatch {
  /** Takes the orders. */
  readonly callee: RpcFunction;
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
    const { held } = parts;
    const callee: RpcFunction = () => {
      throw malformed('an order from the side of the run');
    };
    this.callee = defineTarget(callee, {
      name: 'run',
      ownsResults: true,
      call: ([order, reads], { signal }) =>
        held.order(() => this.#order(orderOf(order, 'order'), reads === true, signal)),
      release: () => held.end(runOver()),
    });
  }

  /** Settles when the run is over. Orders may come before. */
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

  /** Throws ProtocolError for a second order before the first is answered. */
  async #order(
    name: ReturnType<typeof orderOf>,
    reads: boolean,
    signal: AbortSignal,
  ): Promise<unknown> {
    if (this.#isBusy) throw malformed('two orders for a watched run at a time');
    this.#isBusy = true;
    try {
      const work = (): Promise<unknown> =>
        name === 'next' ? this.#next(reads) : this.#standing()[name]();
      return await untilAborted(this.#hosted.device.share(work, signal), signal);
    } finally {
      this.#isBusy = false;
    }
  }

  async #next(reads: boolean): Promise<unknown> {
    this.#begin.resolve();
    const left = this.#call;
    if (left !== undefined) {
      this.#call = undefined;
      this.#arrival = new Deferred();
      left.goOn.resolve();
    }
    await this.#arrival.promise;
    if (this.#isOver) return null;
    const { kernel, at, ...call } = this.#standing();
    return { kernel, at, results: reads ? await call.results() : undefined };
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
