import { Deferred } from '../../core/async/deferred.ts';
import { UsageError } from '../../core/errors.ts';
import { untilAborted } from '../../core/async/until-aborted.ts';
import type { ControlReply } from '../../worker/protocol/control-request.ts';
import type { DebugOrder, DebugReply } from '../../worker/protocol/debug-order.ts';
import type { WireResult } from '../../worker/protocol/wire-value.ts';
import { bytesOf, objectOf, tupleOf } from '../values/checked-values.ts';
import { isRemoteFunction, type RemoteFunction } from '../values/remote-handles.ts';
import type { RpcValue } from '../values/rpc-value.ts';
import { malformed } from '../values/wire-values.ts';
import { numbersToJson, reviveNumbers } from './number-json.ts';

interface OpenRun {
  readonly begun: Promise<RemoteFunction>;
  /** Settles when this side is done with it. */
  readonly over: Deferred;
}

/** The debugging runs of a session on a served device, by the numbers that the page chose. */
export class RemoteDebugRuns {
  readonly #runs = new Map<number, OpenRun>();

  /** Holds a run that the server begins, until it is closed or the signal aborts. */
  async hold(run: number, beginning: Promise<RpcValue>, signal: AbortSignal): Promise<void> {
    const begun = beginning.then((held) => {
      if (isRemoteFunction(held)) return held;
      throw malformed('a value that is not a run');
    });
    const over = new Deferred();
    this.#runs.set(run, { begun, over });
    try {
      await begun;
      await untilAborted(over.promise, signal);
    } finally {
      this.#runs.delete(run);
      // Of one that was given up before it began nothing is here.
      begun.then(
        (held) => held.release(),
        () => undefined,
      );
    }
  }

  /** `toResults` converts what the run gives at its end. */
  async order(
    { run, order }: { readonly run: number; readonly order: DebugOrder },
    signal: AbortSignal,
    toResults: (results: RpcValue | undefined) => WireResult[],
  ): Promise<ControlReply> {
    const known = this.#runs.get(run);
    if (known === undefined) throw closedRun();
    const held = await known.begun;
    if (order.do === 'close') {
      known.over.resolve();
      return { calls: [], results: [], note: '', debug: {} };
    }
    const answer = await held.invoke([numbersToJson(order)], { signal });
    const [results, sent, pixels] = tupleOf(answer).fields;
    const debug = withPixels(objectOf(sent, reviveNumbers), pixels);
    return { calls: [], results: toResults(results), note: '', debug };
  }

  /** Ends them all: their session is over. */
  end(error: Error): void {
    for (const { over } of this.#runs.values()) over.reject(error);
  }
}

function withPixels(reply: DebugReply, pixels: RpcValue | undefined): DebugReply {
  const { value } = reply;
  if (value?.kind !== 'tensor' || value.picture === undefined) return reply;
  const rgba = new Uint8ClampedArray(bytesOf(pixels));
  const { width, height } = value.picture;
  if (rgba.byteLength !== 4 * width * height) throw malformed('a picture of another size');
  return { ...reply, value: { ...value, picture: { width, height, rgba } } };
}

function closedRun(): UsageError {
  return new UsageError({
    where: 'debug',
    got: 'an order for a debugging run that was closed',
    expected: 'a run that is open',
    remedy: 'Begin another one with session.debug.',
  });
}
