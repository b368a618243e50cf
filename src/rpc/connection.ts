import { abortError, UsageError } from '../core/errors.ts';
import type { Channel, Frame } from './channels/channel.ts';
import {
  errorFromWire,
  errorToWire,
  LimitError,
  ProtocolError,
  RemoteLostError,
} from './errors.ts';
import { Inbox } from './channels/inbox.ts';
import type { RpcLimits } from './limits.ts';
import { decodeMessage, type Message, MessageType } from './values/messages.ts';
import { Outbox, type Sending } from './channels/outbox.ts';
import type { HandleOwner, SendOptions } from './values/remote-handles.ts';
import type { RpcTarget } from './values/rpc-value.ts';
import { ConnectionValues, releaseAll } from './values/connection-values.ts';
import { malformed } from './values/wire-values.ts';

/** Calls may come in bursts of this many seconds' worth. */
const BURST_SECONDS = 4;

/** A token bucket. */
export class RateLimit {
  readonly #perSecond: number;
  readonly #now: () => number;
  #tokens: number;
  #last: number;

  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#now = now;
    this.#tokens = perSecond * BURST_SECONDS;
    this.#last = now();
  }

  /** Throws LimitError when there were too many. */
  take(): void {
    const now = this.#now();
    const earned = ((now - this.#last) / 1000) * this.#perSecond;
    this.#tokens = Math.min(this.#tokens + earned, this.#perSecond * BURST_SECONDS);
    this.#last = now;
    if (this.#tokens < 1) {
      throw new LimitError({
        where: 'remote connection',
        got: `more than ${this.#perSecond} calls per second`,
        expected: 'fewer',
        remedy: 'Do more in one call, or raise limits.callsPerSecond where they run.',
      });
    }
    this.#tokens--;
  }
}

interface ConnectionOptions {
  readonly limits: RpcLimits;
  /** The other side's name for itself, for messages of errors. */
  readonly peerName: string;
  /** The functions that the other side may call by name. */
  readonly methods: ReadonlyMap<string, RpcTarget>;
}

interface PendingCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

type CallMessage = Extract<Message, { type: typeof MessageType.call }>;
type ResultMessage = Extract<Message, { type: typeof MessageType.result }>;

/**
 * One side of a connection after the handshake; both are alike. Every call has a number and exactly one
 * answer; nothing is ever sent twice. A message that breaks the protocol ends the connection.
 */
export class Connection implements HandleOwner {
  readonly peerName: string;
  /** Resolves with the reason when the connection is over. */
  readonly closed: Promise<Error>;
  readonly #channel: Channel;
  readonly #limits: RpcLimits;
  readonly #methods: ReadonlyMap<string, RpcTarget>;
  readonly #outbox: Outbox;
  readonly #inbox: Inbox;
  readonly #rate: RateLimit;
  readonly #values: ConnectionValues;
  /** Calls of this side, also those that were given up, until the answer comes. */
  readonly #pending = new Map<number, PendingCall>();
  /** Calls of the other side that are running here. */
  readonly #active = new Map<number, AbortController>();
  #nextCall = 1;
  #received = 0;
  #end: Error | undefined;
  #resolveClosed: (error: Error) => void = () => undefined;

  constructor(channel: Channel, { limits, peerName, methods }: ConnectionOptions) {
    this.peerName = peerName;
    this.#channel = channel;
    this.#limits = limits;
    this.#methods = methods;
    this.#outbox = new Outbox(channel);
    this.#inbox = new Inbox(channel, limits.messageBytes, (byteCount) =>
      this.#post({ type: MessageType.credit, byteCount }),
    );
    this.#rate = new RateLimit(limits.callsPerSecond);
    this.#values = new ConnectionValues({
      owner: this,
      limits,
      sendRelease: (handle, count) => this.#post({ type: MessageType.release, handle, count }),
    });
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    channel.listen({
      frame: (frame) => this.#receive(frame),
      closed: (reason) => this.#stop(lost(peerName, reason)),
    });
  }

  get isClosed(): boolean {
    return this.#end !== undefined;
  }

  /** Counts of objects held and calls under way, for tests and for whoever shows them. */
  counters() {
    return {
      ...this.#values.counters(),
      callsPending: this.#pending.size,
      callsActive: this.#active.size,
      bodiesWaiting: this.#outbox.waitingCount,
      bodiesArriving: this.#inbox.assemblyCount,
    };
  }

  /** Calls a function of the other side with values or data. Rejects with its error, RemoteLostError or AbortError. */
  async call(
    target: number | string,
    args: readonly unknown[],
    { signal, keep = 'host', onProgress, onSent, discard = releaseAll }: SendOptions = {},
  ): Promise<unknown> {
    if (signal?.aborted === true) throw abortError(signal);
    if (this.#end !== undefined) throw this.#end;
    const values = this.#values.encode(args);
    const call = this.#nextCall++;
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#pending.set(call, { resolve, reject });
    });
    let sending: Sending;
    try {
      const { blobs, ...nodes } = values;
      const fixed = { type: MessageType.call, call, target, keep: keep === 'device' } as const;
      sending = this.#outbox.send((plan) => ({ ...fixed, values: nodes, ...plan }), blobs, {
        onProgress,
        onSent,
      });
    } catch (error) {
      this.#pending.delete(call);
      throw error;
    }
    if (signal === undefined) return answer;
    const late = { resolve: (value: unknown) => discard(value), reject: () => undefined };
    const abort = (): void => this.#giveUp(call, { sending, late, error: abortError(signal) });
    signal.addEventListener('abort', abort, { once: true });
    return answer.finally(() => signal.removeEventListener('abort', abort));
  }

  releaseHandle(id: number): void {
    this.#values.drop(id);
  }

  /** Takes a local function or tensor away from the other side. */
  revoke(exported: object): void {
    this.#values.revoke(exported);
  }

  /** Ends the connection: what is pending rejects, what the other side holds is released. */
  close(): void {
    this.#fail(
      new UsageError({
        where: `connection with ${this.peerName}`,
        got: 'a call after the connection was closed',
        expected: 'an open connection',
      }),
      lost('the other side', 'it closed the connection'),
    );
  }

  #post(message: Message): void {
    if (this.#end !== undefined) return;
    this.#outbox.post(message);
    this.#checkBuffered();
  }

  /** A side that sends calls and reads no answers must not fill the other's memory. */
  #checkBuffered(): void {
    const { bufferedBytes } = this.#limits;
    if (this.#channel.bufferedByteLength <= bufferedBytes) return;
    const error = new LimitError({
      where: `connection with ${this.peerName}`,
      got: `more than ${bufferedBytes} bytes that it does not read`,
      expected: 'a side that reads its answers',
    });
    this.#fail(error, error);
  }

  #receive({ head, body }: Frame): void {
    if (this.#end !== undefined) return;
    try {
      const { sequence, message } = decodeMessage(head);
      if (sequence !== this.#received) throw malformed('a message repeated or out of order');
      this.#received++;
      this.#take(message, body);
    } catch (error) {
      const reason = error instanceof Error ? error : new ProtocolError(String(error));
      this.#fail(reason, reason);
    }
  }

  #take(message: Message, body: Uint8Array | undefined): void {
    switch (message.type) {
      case MessageType.call:
        return this.#inbox.expect(message, body, (blobs) => this.#takeCall(message, blobs));
      case MessageType.result:
        return this.#inbox.expect(message, body, (blobs) => this.#takeResult(message, blobs));
      case MessageType.piece:
        return this.#inbox.piece(message.stream, body);
      case MessageType.failure:
        return this.#settle(message.call).reject(errorFromWire(message.error, this.peerName));
      case MessageType.cancel:
        return this.#active.get(message.call)?.abort();
      case MessageType.release:
        return this.#values.release(message.handle, message.count);
      case MessageType.credit:
        return this.#outbox.grant(message.byteCount);
      case MessageType.abandon:
        return this.#inbox.abandon(message.stream);
      case MessageType.bye:
        return this.#stop(farewell(this.peerName, message.error));
      default:
        throw malformed(`an unknown message ${String(message satisfies never)}`);
    }
  }

  #takeCall(message: CallMessage, blobs: readonly Uint8Array[]): void {
    const { call } = message;
    if (this.#active.has(call)) throw malformed(`the call ${call} twice`);
    const decode = (): unknown[] => this.#values.decode(message.values, blobs);
    let args: unknown[];
    let target: RpcTarget;
    try {
      args = decode();
      target = this.#target(message.target);
      this.#checkLoad();
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      this.#post({ type: MessageType.failure, call, error: errorToWire(error) });
      return;
    }
    void this.#perform(message, target, args);
  }

  #checkLoad(): void {
    this.#rate.take();
    const { pending } = this.#limits;
    if (this.#active.size < pending) return;
    throw new LimitError({
      where: 'remote connection',
      got: `more than ${pending} calls at a time`,
      expected: `at most ${pending}`,
      remedy: 'Wait for some of them, or raise limits.pending where they run.',
    });
  }

  async #perform(
    { call, keep }: CallMessage,
    target: RpcTarget,
    args: readonly unknown[],
  ): Promise<void> {
    const controller = new AbortController();
    this.#active.set(call, controller);
    let drop: (() => void) | undefined;
    const ifUnsent = (given: () => void): void => {
      drop = given;
    };
    try {
      const value = await target.call(args, { signal: controller.signal, keep, ifUnsent });
      // Its objects would otherwise be held for nobody.
      if (this.#end !== undefined) return releaseAll(value);
      const { blobs, ...values } = this.#values.encodeResult(value);
      const fixed = { type: MessageType.result, call, values } as const;
      this.#outbox.send((plan) => ({ ...fixed, ...plan }), blobs, { isOwned: target.ownsResults });
      this.#checkBuffered();
    } catch (error) {
      drop?.();
      this.#post({ type: MessageType.failure, call, error: errorToWire(error) });
    } finally {
      this.#active.delete(call);
    }
  }

  #takeResult({ call, values }: ResultMessage, blobs: readonly Uint8Array[]): void {
    const [value, ...more] = this.#values.decode(values, blobs);
    if (value === undefined || more.length > 0) throw malformed('a result that is not one value');
    this.#settle(call).resolve(value);
  }

  #target(target: number | string): RpcTarget {
    if (typeof target === 'number') return this.#values.target(target);
    const method = this.#methods.get(target);
    if (method !== undefined) return method;
    throw malformed('a call of a method that was not offered');
  }

  /** Ends the wait for an answer. Throws ProtocolError when nobody waits for it. */
  #settle(call: number): PendingCall {
    const pending = this.#pending.get(call);
    if (pending === undefined) throw malformed(`an answer to the call ${call}`);
    this.#pending.delete(call);
    return pending;
  }

  #giveUp(
    call: number,
    { sending, late, error }: { sending: Sending; late: PendingCall; error: Error },
  ): void {
    const pending = this.#pending.get(call);
    if (pending === undefined) return;
    if (sending.cancel()) this.#pending.delete(call);
    else {
      this.#pending.set(call, late);
      this.#post({ type: MessageType.cancel, call });
    }
    pending.reject(error);
  }

  /** Tells the other side why, then stops. */
  #fail(error: Error, toldReason: Error): void {
    if (this.#end !== undefined) return;
    this.#outbox.post({ type: MessageType.bye, error: errorToWire(toldReason) });
    this.#stop(error);
  }

  #stop(error: Error): void {
    if (this.#end !== undefined) return;
    this.#end = error;
    this.#channel.close();
    this.#outbox.end();
    this.#inbox.end();
    for (const controller of this.#active.values()) controller.abort(error);
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const call of pending) call.reject(error);
    this.#values.clear();
    this.#resolveClosed(error);
  }
}

function lost(peer: string, reason: string): RemoteLostError {
  return new RemoteLostError({
    where: `connection with ${peer}`,
    got: reason,
    expected: 'an open connection',
    remedy: 'Pending calls may have run; connect again and repeat those that are safe to repeat.',
  });
}

/** The other side's reason when it ended the connection. */
function farewell(peer: string, data: unknown): Error {
  const cause = errorFromWire(data, peer);
  const { message } = cause;
  return new RemoteLostError(`connection with ${peer}: the other side ended it. ${message}`, {
    cause,
  });
}
