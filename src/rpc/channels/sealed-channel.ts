import { BaseChannel, type Channel, type Frame } from './channel.ts';
import { encodeFrame, decodeFrame } from './frame-bytes.ts';

/** Keys of AES-GCM, one for each direction. */
export interface SealKeys {
  readonly outgoing: CryptoKey;
  readonly incoming: CryptoKey;
}

const NO_HEAD = new Uint8Array(0);

/**
 * A channel whose frames nobody between the two sides can read or change. Each frame is sealed by
 * AES-GCM under its number, which is not sent: one that is changed, left out or comes again does not
 * open, and ends the channel.
 */
export class SealedChannel extends BaseChannel {
  readonly #inner: Channel;
  readonly #keys: SealKeys;
  #sent = 0;
  #received = 0;
  #sealingByteLength = 0;
  /** Frames are sealed at the same time and sent in order. */
  #sending: Promise<void> = Promise.resolve();
  #opening: Promise<void> = Promise.resolve();

  constructor(inner: Channel, keys: SealKeys) {
    super();
    this.#inner = inner;
    this.#keys = keys;
    inner.listen({
      frame: (frame) => this.#open(frame),
      closed: (reason) => {
        // Frames that arrived before the end are delivered before it.
        this.#opening = this.#opening.then(() => this.end(reason));
      },
    });
  }

  get pieceByteLength(): number {
    return this.#inner.pieceByteLength;
  }

  get windowByteLength(): number {
    return this.#inner.windowByteLength;
  }

  get bufferedByteLength(): number {
    return this.#inner.bufferedByteLength + this.#sealingByteLength;
  }

  send(frame: Frame): void {
    if (this.isClosed) return;
    const plain = encodeFrame(frame);
    this.#sealingByteLength += plain.byteLength;
    const algorithm = { name: 'AES-GCM', iv: numbered(this.#sent++) };
    const sealing = crypto.subtle.encrypt(algorithm, this.#keys.outgoing, plain);
    this.#sending = this.#transmit(sealing, this.#sending, plain.byteLength);
  }

  close(): void {
    if (this.isClosed) return;
    this.end('the connection was closed here');
    this.#sending = this.#sending.then(() => this.#inner.close());
  }

  #open({ head, body }: Frame): void {
    if (head.byteLength > 0 || body === undefined) {
      this.#refuse('the other side sent a message that is not sealed');
      return;
    }
    const algorithm = { name: 'AES-GCM', iv: numbered(this.#received++) };
    const sealed = body as Uint8Array<ArrayBuffer>;
    const opening = crypto.subtle.decrypt(algorithm, this.#keys.incoming, sealed);
    this.#opening = this.#deliver(opening, this.#opening);
  }

  async #transmit(
    sealing: Promise<ArrayBuffer>,
    before: Promise<void>,
    byteLength: number,
  ): Promise<void> {
    try {
      const [sealed] = await Promise.all([sealing, before]);
      this.#inner.send({ head: NO_HEAD, body: new Uint8Array(sealed), isOwned: true });
    } catch {
      this.#refuse('a message could not be sealed');
    }
    this.#sealingByteLength -= byteLength;
  }

  async #deliver(opening: Promise<ArrayBuffer>, before: Promise<void>): Promise<void> {
    let plain: ArrayBuffer;
    try {
      [plain] = await Promise.all([opening, before]);
    } catch {
      this.#refuse('a message came that is not from the other side, or not in order');
      return;
    }
    const frame = decodeFrame(new Uint8Array(plain));
    if (frame === undefined) this.#refuse('the other side sent an incomplete frame');
    else this.receive(frame);
  }

  #refuse(reason: string): void {
    this.end(reason);
    this.#inner.close();
  }
}

/** Each key seals each number once. */
function numbered(count: number): Uint8Array<ArrayBuffer> {
  const iv = new Uint8Array(12);
  new DataView(iv.buffer).setBigUint64(4, BigInt(count), true);
  return iv;
}
