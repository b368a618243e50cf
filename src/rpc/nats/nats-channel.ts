import { createInbox, type Msg, type NatsConnection, type Subscription } from '@nats-io/nats-core';
import { BaseChannel, type Frame } from '../channels/channel.ts';
import {
  decodeFrame,
  encodeFrame,
  MAX_FRAME_BYTE_LENGTH,
  PIECE_BYTE_LENGTH,
} from '../channels/frame-bytes.ts';

type Lost = (reason: string) => void;

const LISTENERS = new WeakMap<NatsConnection, Set<Lost>>();

/**
 * Calls back when a connection breaks off, also when the client connects again afterwards: what was
 * under way may be lost. Returns what ends that.
 */
function onConnectionLost(nats: NatsConnection, lost: Lost): () => void {
  const listeners = LISTENERS.get(nats) ?? watch(nats);
  listeners.add(lost);
  return () => listeners.delete(lost);
}

function watch(nats: NatsConnection): Set<Lost> {
  const listeners = new Set<Lost>();
  LISTENERS.set(nats, listeners);
  const tell = (reason: string): void => {
    for (const lost of listeners) lost(reason);
  };
  const follow = async (): Promise<void> => {
    for await (const { type } of nats.status()) {
      if (type === 'disconnect' || type === 'close') tell('the connection to NATS broke off');
      if (type === 'slowConsumer') tell('messages of NATS were dropped, because too many waited');
    }
  };
  void follow().catch(() => tell('the connection to NATS broke off'));
  void nats.closed().then(() => tell('the connection to NATS was closed'));
  return listeners;
}

const WINDOW_BYTE_LENGTH = 16 * PIECE_BYTE_LENGTH;
/** Share of the window that is taken before the other side is told. */
const ACKNOWLEDGED_SHARE = 4;

/** The first byte of a message, which says what it is. */
const Kind = {
  /** A part of a frame that goes on in the next one. */
  part: 0,
  /** The last part of a frame. */
  last: 1,
  /** The sender has taken all parts before this number. */
  taken: 2,
  ping: 3,
  pong: 4,
  /** The sender is gone; a reason follows. */
  end: 5,
} as const;

/** Kind, three unused bytes, and a number: parts are counted, so that none is lost or comes twice. */
const HEADER_BYTE_LENGTH = 8;
const MAX_REASON_BYTE_LENGTH = 300;
/** A server's answer where nobody listens. */
const NO_RESPONDERS = 503;

/** How a channel finds out that the other side is gone. */
export interface NatsChannelOptions {
  /** How often the other side is asked for a sign of life. Default: 1000. */
  readonly pingMs?: number | undefined;
  /** How long it may be busy without one. Default: 60,000. */
  readonly silenceMs?: number | undefined;
}

/**
 * A channel over NATS: each side publishes to the inbox of the other one. NATS delivers at most once and
 * holds nobody back. So parts are numbered, and no more than a window of bytes is under way before
 * the other side has said that it took them. Every message names the sender's inbox for a reply,
 * where the server says at once when the other side is gone.
 */
export class NatsChannel extends BaseChannel {
  readonly pieceByteLength: number;
  readonly windowByteLength = WINDOW_BYTE_LENGTH;
  /** The subject to which the other side publishes. */
  readonly inbox: string = createInbox();
  readonly #nats: NatsConnection;
  readonly #silenceMs: number;
  readonly #subscription: Subscription;
  readonly #forget: () => void;
  readonly #pingTimer: ReturnType<typeof setInterval>;
  readonly #partByteLength: number;
  #peer: string | undefined;
  #lastSeen = performance.now();

  #nextPart = 0;
  readonly #queue: Uint8Array[] = [];
  #queuedByteLength = 0;
  /** Byte lengths of parts under way, oldest first. */
  readonly #underWay: number[] = [];
  #underWayByteLength = 0;

  #expectedPart = 0;
  #parts: Uint8Array[] = [];
  #partsByteLength = 0;
  #untoldByteLength = 0;

  constructor(
    nats: NatsConnection,
    { pingMs = 1000, silenceMs = 60_000 }: NatsChannelOptions = {},
  ) {
    super();
    this.#nats = nats;
    this.#silenceMs = silenceMs;
    this.#partByteLength = nats.info?.max_payload ?? PIECE_BYTE_LENGTH;
    this.pieceByteLength = Math.min(PIECE_BYTE_LENGTH, this.#partByteLength >> 1);
    this.#subscription = nats.subscribe(this.inbox, {
      callback: (error, message) => {
        if (error === null) this.#take(message);
        else this.#finish(error.message);
      },
    });
    this.#forget = onConnectionLost(nats, (reason) => this.#finish(reason));
    this.#pingTimer = setInterval(() => this.#ping(), pingMs);
  }

  /** Says to whom this channel goes; nothing is sent before. */
  join(peerInbox: string): void {
    this.#peer = peerInbox;
    this.#pump();
  }

  /** Bytes that wait for the other side; those under way are not among them. */
  get bufferedByteLength(): number {
    return this.#queuedByteLength;
  }

  send(frame: Frame): void {
    if (this.isClosed) return;
    const message = encodeFrame(frame, HEADER_BYTE_LENGTH);
    if (message.byteLength <= this.#partByteLength) this.#enqueue(message, true);
    else {
      const step = this.#partByteLength - HEADER_BYTE_LENGTH;
      for (let start = HEADER_BYTE_LENGTH; start < message.byteLength; start += step) {
        const part = new Uint8Array(
          Math.min(step, message.byteLength - start) + HEADER_BYTE_LENGTH,
        );
        part.set(message.subarray(start, start + step), HEADER_BYTE_LENGTH);
        this.#enqueue(part, start + step >= message.byteLength);
      }
    }
    this.#pump();
  }

  close(): void {
    if (this.isClosed) return;
    this.#publishEnd('the other side closed the connection');
    this.#finish('the connection was closed here');
  }

  #enqueue(part: Uint8Array, isLast: boolean): void {
    writeHeader(part, isLast ? Kind.last : Kind.part, this.#nextPart);
    this.#nextPart = next(this.#nextPart);
    this.#queue.push(part);
    this.#queuedByteLength += part.byteLength;
  }

  #pump(): void {
    if (this.#peer === undefined) return;
    for (let part = this.#queue[0]; part !== undefined; part = this.#queue[0]) {
      if (this.#underWayByteLength + part.byteLength > WINDOW_BYTE_LENGTH) return;
      this.#queue.shift();
      this.#queuedByteLength -= part.byteLength;
      this.#underWay.push(part.byteLength);
      this.#underWayByteLength += part.byteLength;
      this.#publish(part);
    }
  }

  #publish(message: Uint8Array): void {
    if (this.#peer === undefined || this.isClosed) return;
    try {
      this.#nats.publish(this.#peer, message, { reply: this.inbox });
    } catch (error) {
      this.#finish(error instanceof Error ? error.message : String(error));
    }
  }

  #publishSmall(kind: number, count = 0): void {
    const message = new Uint8Array(HEADER_BYTE_LENGTH);
    writeHeader(message, kind, count);
    this.#publish(message);
  }

  #publishEnd(reason: string): void {
    const text = new TextEncoder().encode(reason).subarray(0, MAX_REASON_BYTE_LENGTH);
    const message = new Uint8Array(HEADER_BYTE_LENGTH + text.byteLength);
    writeHeader(message, Kind.end, 0);
    message.set(text, HEADER_BYTE_LENGTH);
    this.#publish(message);
  }

  #ping(): void {
    if (performance.now() - this.#lastSeen > this.#silenceMs) {
      this.#finish(`no sign of life in ${this.#silenceMs} ms`);
    } else this.#publishSmall(Kind.ping);
  }

  #take(message: Msg): void {
    const { data } = message;
    if (data.byteLength === 0 && message.headers?.code === NO_RESPONDERS) {
      this.#finish('the other side is gone');
      return;
    }
    if (data.byteLength < HEADER_BYTE_LENGTH) {
      this.#refuse('the other side sent no message of a connection');
      return;
    }
    this.#lastSeen = performance.now();
    const [kind] = data;
    const count = new DataView(data.buffer, data.byteOffset).getUint32(4, true);
    if (kind === Kind.part || kind === Kind.last) this.#takePart(data, count);
    else if (kind === Kind.taken) this.#release(count);
    else if (kind === Kind.ping) this.#publishSmall(Kind.pong);
    else if (kind === Kind.end) this.#finish(readReason(data));
    else if (kind !== Kind.pong) this.#refuse('the other side sent an unknown message');
  }

  #takePart(data: Uint8Array, count: number): void {
    if (count !== this.#expectedPart) {
      this.#refuse('a message was lost or arrived twice');
      return;
    }
    this.#expectedPart = next(count);
    this.#partsByteLength += data.byteLength - HEADER_BYTE_LENGTH;
    if (this.#partsByteLength > MAX_FRAME_BYTE_LENGTH) {
      this.#refuse('the other side sent a frame that is too large');
      return;
    }
    this.#parts.push(data.subarray(HEADER_BYTE_LENGTH));
    this.#acknowledge(data.byteLength);
    if (data[0] === Kind.last) this.#deliver();
  }

  #deliver(): void {
    // A copy: what arrives lies anywhere in the client's buffer, and tensors are views.
    const whole = new Uint8Array(this.#partsByteLength);
    let offset = 0;
    for (const part of this.#parts) {
      whole.set(part, offset);
      offset += part.byteLength;
    }
    this.#parts = [];
    this.#partsByteLength = 0;
    const frame = decodeFrame(whole);
    if (frame === undefined) this.#refuse('the other side sent an incomplete frame');
    else this.receive(frame);
  }

  #acknowledge(byteLength: number): void {
    this.#untoldByteLength += byteLength;
    if (this.#untoldByteLength * ACKNOWLEDGED_SHARE < WINDOW_BYTE_LENGTH) return;
    this.#untoldByteLength = 0;
    this.#publishSmall(Kind.taken, this.#expectedPart);
  }

  /** The other side has taken all parts before this number. */
  #release(count: number): void {
    const oldest = this.#nextPart - this.#queue.length - this.#underWay.length;
    const taken = (count - oldest) >>> 0;
    if (taken > this.#underWay.length) {
      this.#refuse('the other side took more than was sent');
      return;
    }
    for (const byteLength of this.#underWay.splice(0, taken)) {
      this.#underWayByteLength -= byteLength;
    }
    this.#pump();
  }

  /** Ends the connection, and tells the other side why. */
  #refuse(reason: string): void {
    this.#publishEnd(reason);
    this.#finish(reason);
  }

  #finish(reason: string): void {
    if (this.isClosed) return;
    this.end(reason);
    clearInterval(this.#pingTimer);
    this.#forget();
    this.#queue.length = 0;
    this.#queuedByteLength = 0;
    this.#parts = [];
    if (!this.#nats.isClosed()) this.#subscription.unsubscribe();
  }
}

function writeHeader(message: Uint8Array, kind: number, count: number): void {
  message[0] = kind;
  new DataView(message.buffer, message.byteOffset).setUint32(4, count, true);
}

/** Numbers of parts begin again after 2^32. */
function next(count: number): number {
  return (count + 1) >>> 0;
}

function readReason(data: Uint8Array): string {
  const text = new TextDecoder().decode(
    data.subarray(HEADER_BYTE_LENGTH, HEADER_BYTE_LENGTH + MAX_REASON_BYTE_LENGTH),
  );
  return text === '' ? 'the other side is gone' : text;
}
