import { having } from '../../core/check-options.ts';

/**
 * One message as channels carry it. `head` is encoded data, `body` the raw bytes of tensors. A body
 * that is owned belongs to the channel from now on, which may hand its memory to the other side.
 */
export interface Frame {
  /** The values of the message, encoded. */
  readonly head: Uint8Array;
  /** The bytes of tensors in the message. */
  readonly body?: Uint8Array | undefined;
  /** Hands the memory of the body over to the channel. */
  readonly isOwned?: boolean | undefined;
}

/** Whoever takes what a channel brings. */
export interface ChannelListener {
  /** Takes a frame, in the order in which they were sent. */
  frame(frame: Frame): void;
  /** Comes once, after the last frame. */
  closed(reason: string): void;
}

/**
 * A way to another page, worker or process: frames arrive whole, once and in order, or the channel
 * closes. Frames that arrive while nobody listens are kept.
 */
export interface Channel {
  /** The largest body of one frame, in bytes. */
  readonly pieceByteLength: number;
  /** Bytes of bodies that may be under way before the other side has said that it took them. */
  readonly windowByteLength: number;
  /** Bytes that wait to be sent. */
  readonly bufferedByteLength: number;
  /** Sends a frame; nothing after the end. */
  send(frame: Frame): void;
  /** Sets who takes frames, and hands over those that wait; undefined keeps them. */
  listen(listener: ChannelListener | undefined): void;
  /** Ends the channel on both sides. */
  close(): void;
}

export const CHANNEL = having('a channel', 'send', 'listen', 'close');

/** Frames that may wait for a listener, as between the steps of a handshake. */
const MAX_WAITING = 256;

/** The common part of all channels: keeping frames until somebody listens, and one end. */
export abstract class BaseChannel implements Channel {
  abstract readonly pieceByteLength: number;
  abstract readonly windowByteLength: number;
  abstract readonly bufferedByteLength: number;
  #listener: ChannelListener | undefined;
  #waiting: Frame[] = [];
  #end: string | undefined;
  #isEndTold = false;

  abstract send(frame: Frame): void;
  /** Ends the channel on both sides. */
  abstract close(): void;

  /** Sets who takes frames, and hands over those that wait; undefined keeps them. */
  listen(listener: ChannelListener | undefined): void {
    this.#listener = listener;
    while (this.#listener !== undefined) {
      const frame = this.#waiting.shift();
      if (frame === undefined) break;
      this.#listener.frame(frame);
    }
    this.#tellEnd();
  }

  /** True once the channel has ended, on either side. */
  protected get isClosed(): boolean {
    return this.#end !== undefined;
  }

  /** Hands a frame that arrived to the listener, or keeps it. */
  protected receive(frame: Frame): void {
    if (this.#end !== undefined) return;
    if (this.#listener !== undefined) this.#listener.frame(frame);
    else if (this.#waiting.length < MAX_WAITING) this.#waiting.push(frame);
    else {
      this.end('too many messages before the connection began');
      this.close();
    }
  }

  /** Ends the channel here; the listener gets the first reason. */
  protected end(reason: string): void {
    this.#end ??= reason;
    this.#tellEnd();
  }

  #tellEnd(): void {
    if (this.#end === undefined || this.#isEndTold || this.#listener === undefined) return;
    if (this.#waiting.length > 0) return;
    this.#isEndTold = true;
    this.#listener.closed(this.#end);
  }
}
