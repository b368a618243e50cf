import { BaseChannel, type Frame } from '../channels/channel.ts';

export interface PairOptions {
  readonly pieceByteLength?: number;
  readonly windowByteLength?: number;
}

/** One end of two channels that are joined in memory. Tests hold, change and count what passes. */
export class TestChannel extends BaseChannel {
  readonly pieceByteLength: number;
  readonly windowByteLength: number;
  partner: TestChannel | undefined;
  /** Frames sent so far. */
  readonly sent: Frame[] = [];
  /** Sees each frame before it arrives at the partner; what it returns arrives in its place. */
  onSend: (frame: Frame) => readonly Frame[] = (frame) => [frame];
  readonly #held: Frame[] = [];
  #isHolding = false;

  constructor({ pieceByteLength = 1024, windowByteLength = 8 * 1024 }: PairOptions) {
    super();
    this.pieceByteLength = pieceByteLength;
    this.windowByteLength = windowByteLength;
  }

  get bufferedByteLength(): number {
    return this.#held.reduce((sum, { head, body }) => sum + sizeOf(head) + sizeOf(body), 0);
  }

  send(frame: Frame): void {
    if (this.isClosed) return;
    this.sent.push(frame);
    for (const arriving of this.onSend(frame)) this.inject(arriving);
  }

  /** Makes a frame arrive at the partner. */
  inject({ head, body }: Frame): void {
    const copy = { head: head.slice(), body: body?.slice() };
    if (this.#isHolding) this.#held.push(copy);
    else queueMicrotask(() => this.partner?.receive(copy));
  }

  /** The partner does not read until the returned function is called. */
  hold(): () => void {
    this.#isHolding = true;
    return () => {
      this.#isHolding = false;
      for (const frame of this.#held.splice(0)) this.inject(frame);
    };
  }

  /** Breaks the connection: neither side says why. */
  break(): void {
    this.end('the connection broke off');
    this.partner?.end('the connection broke off');
  }

  close(): void {
    this.end('the connection was closed here');
    queueMicrotask(() => this.partner?.end('the other side closed the connection'));
  }
}

function sizeOf(bytes: Uint8Array | undefined): number {
  return bytes?.byteLength ?? 0;
}

export function channelPair(options: PairOptions = {}): [TestChannel, TestChannel] {
  const a = new TestChannel(options);
  const b = new TestChannel(options);
  a.partner = b;
  b.partner = a;
  return [a, b];
}
