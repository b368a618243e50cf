import { Deferred } from '../../core/async/deferred.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { HostInput } from '../../runtime/host-function.ts';
import { holdDebugRun, orderDebugRun } from '../../worker/tools/debug-session.ts';
import type { HostedSession } from '../../worker/host/hosted-session.ts';
import type { DebugReply } from '../../worker/protocol/debug-order.ts';
import type { WireResult } from '../../worker/protocol/wire-value.ts';
import { RpcTuple, type RpcValue } from '../values/rpc-value.ts';
import { debugOrder } from './checked-requests.ts';
import type { HeldRun } from './held-runs.ts';
import { numbersToJson } from './number-json.ts';
import type { RunByOrders } from './run-by-orders.ts';

/** Snapshots of a debugging run, in the memory of the server. */
const CHECKPOINT_BYTES = 64 * 2 ** 20;

let runs = 0;

interface DebugParts {
  readonly functionName: string;
  readonly held: HeldRun;
  readonly toResults: (results: readonly WireResult[]) => RpcValue;
}

/**
 * A debugging run for the other side. An order is a `DebugOrder` as JSON. It gives the results of a run at its end, the reply
 * as JSON, and the pixels of a picture.
 */
export class ServedDebug implements RunByOrders {
  readonly #hosted: HostedSession;
  readonly #parts: DebugParts;
  readonly #number = ++runs;
  readonly #begun = new Deferred();

  constructor(hosted: HostedSession, parts: DebugParts) {
    this.#hosted = hosted;
    this.#parts = parts;
  }

  run(inputs: readonly HostInput[]): Promise<void> {
    const { functionName, held } = this.#parts;
    const request = { kind: 'debug', run: this.#number, functionName, args: [] } as const;
    const running = holdDebugRun(this.#hosted, request, {
      inputs,
      signal: held.signal,
      states: undefined,
      checkpointBytes: CHECKPOINT_BYTES,
    });
    this.#begun.resolve();
    return running;
  }

  async order([sent]: readonly RpcValue[], signal: AbortSignal): Promise<RpcValue> {
    const order = debugOrder(sent);
    await this.#begun.promise;
    const request = { kind: 'debug order', run: this.#number, order, args: [] } as const;
    const { debug, results = [] } = await orderDebugRun(this.#hosted, request, signal);
    const { reply, pixels } = withoutPixels(debug);
    return new RpcTuple([this.#parts.toResults(results), numbersToJson(reply), pixels]);
  }
}

/** A reply with the pixels of its picture apart, which are no JSON. */
function withoutPixels(reply: DebugReply): {
  readonly reply: unknown;
  readonly pixels: HostTensor | null;
} {
  const { value } = reply;
  if (value?.kind !== 'tensor' || value.picture === undefined) return { reply, pixels: null };
  const { rgba, ...picture } = value.picture;
  const bytes = new Uint8Array(rgba.buffer, rgba.byteOffset, rgba.byteLength);
  const pixels = new HostTensor('uint8', [bytes.byteLength], bytes);
  return { reply: { ...reply, value: { ...value, picture } }, pixels };
}
