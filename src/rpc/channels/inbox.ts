import type { Channel } from './channel.ts';
import { LimitError } from '../errors.ts';
import { bodyByteLength, splitBody } from './outbox.ts';
import type { BodyPlan } from '../values/messages.ts';
import { malformed } from '../values/wire-values.ts';

interface Assembly {
  readonly body: Uint8Array;
  readonly blobByteLengths: readonly number[];
  received: number;
  readonly deliver: (blobs: readonly Uint8Array[]) => void;
}

/** Share of the window that is taken before the other side is told. */
const CREDIT_SHARE = 4;

/** Puts bodies together that arrive in pieces, and tells the other side what was taken. */
export class Inbox {
  readonly #window: number;
  readonly #maxByteLength: number;
  readonly #grant: (byteCount: number) => void;
  readonly #assemblies = new Map<number, Assembly>();
  #assembledByteLength = 0;
  #taken = 0;

  constructor(channel: Channel, maxByteLength: number, grant: (byteCount: number) => void) {
    this.#window = channel.windowByteLength;
    this.#maxByteLength = maxByteLength;
    this.#grant = grant;
  }

  /** Messages whose bodies are not complete. */
  get assemblyCount(): number {
    return this.#assemblies.size;
  }

  /**
   * Hands over the blobs of a message, at once or when its last piece has come. Throws ProtocolError
   * for a body of another length, LimitError beyond the limit.
   */
  expect(
    { blobByteLengths, stream }: BodyPlan,
    body: Uint8Array | undefined,
    deliver: (blobs: readonly Uint8Array[]) => void,
  ): void {
    const byteLength = bodyByteLength(blobByteLengths);
    this.#checkRoom(byteLength, blobByteLengths);
    if (stream === 0) {
      if ((body?.byteLength ?? 0) !== byteLength) throw malformed('a body of another length');
      deliver(splitBody(body ?? new Uint8Array(0), blobByteLengths));
      this.#take(byteLength);
      return;
    }
    if (body !== undefined || this.#assemblies.has(stream) || byteLength === 0) {
      throw malformed('a body both here and in pieces');
    }
    const target = new Uint8Array(byteLength);
    this.#assemblies.set(stream, { body: target, blobByteLengths, received: 0, deliver });
    this.#assembledByteLength += byteLength;
  }

  piece(stream: number, piece: Uint8Array | undefined): void {
    const assembly = this.#assemblies.get(stream);
    if (assembly === undefined || piece === undefined) throw malformed('a piece without a body');
    const { body, blobByteLengths, received } = assembly;
    if (received + piece.byteLength > body.byteLength) throw malformed('a piece too many');
    body.set(piece, received);
    assembly.received += piece.byteLength;
    if (assembly.received === body.byteLength) {
      this.abandon(stream);
      assembly.deliver(splitBody(body, blobByteLengths));
    }
    this.#take(piece.byteLength);
  }

  abandon(stream: number): void {
    const assembly = this.#assemblies.get(stream);
    if (assembly === undefined) throw malformed('an end without a body');
    this.#assemblies.delete(stream);
    this.#assembledByteLength -= assembly.body.byteLength;
  }

  end(): void {
    this.#assemblies.clear();
    this.#assembledByteLength = 0;
  }

  #checkRoom(byteLength: number, blobByteLengths: readonly number[]): void {
    const total = this.#assembledByteLength + byteLength;
    if (Number.isSafeInteger(total) && total <= this.#maxByteLength) return;
    throw new LimitError({
      where: 'remote connection',
      got: `${blobByteLengths.length} tensors of ${byteLength} bytes in unfinished messages`,
      expected: `at most ${this.#maxByteLength} bytes`,
      remedy: 'Send less at a time, or raise limits.messageBytes on the side that receives.',
    });
  }

  #take(byteLength: number): void {
    this.#taken += byteLength;
    if (this.#taken * CREDIT_SHARE < this.#window) return;
    this.#grant(this.#taken);
    this.#taken = 0;
  }
}
