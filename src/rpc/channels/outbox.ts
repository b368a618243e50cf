import type { Channel } from './channel.ts';
import { type BodyPlan, encodeMessage, type Message, MessageType } from '../values/messages.ts';

const ALIGNMENT = 8;

/** A message whose body follows this plan. */
type MakeMessage = (plan: BodyPlan) => Message;

interface SendOptions {
  /** Allows handing the memory of the blobs over, in place of a copy. */
  readonly isOwned?: boolean | undefined;
  readonly onProgress?: ((sentByteLength: number) => void) | undefined;
  readonly onSent?: (() => void) | undefined;
}

interface Job {
  readonly make: MakeMessage;
  readonly blobByteLengths: readonly number[];
  readonly body: Uint8Array;
  readonly options: SendOptions;
  /** 0 until the message itself was sent with its body to follow. */
  stream: number;
  sent: number;
}

/** Something that is being sent, and can be given up. */
export interface Sending {
  /** True when the other side has not got the message and never will. */
  cancel(): boolean;
}

/**
 * Numbers and sends messages. Bodies wait until the other side has taken earlier ones: no more than
 * the channel's window is under way, the rest stays where it is. Bodies larger than a frame go in
 * pieces, those of several messages in turn.
 */
export class Outbox {
  readonly #channel: Channel;
  readonly #jobs: Job[] = [];
  #sequence = 0;
  #credit: number;
  #nextStream = 1;
  #isEnded = false;

  constructor(channel: Channel) {
    this.#channel = channel;
    this.#credit = channel.windowByteLength;
  }

  /** Messages whose bodies wait. */
  get waitingCount(): number {
    return this.#jobs.length;
  }

  post(message: Message, body?: Uint8Array, isOwned = false): void {
    if (this.#isEnded) return;
    const head = encodeMessage(this.#sequence, message);
    this.#sequence++;
    this.#channel.send({ head, body, isOwned });
  }

  /** Sends a message with blobs, now or when the other side is ready for them. */
  send(make: MakeMessage, blobs: readonly Uint8Array[], options: SendOptions = {}): Sending {
    const blobByteLengths = blobs.map(({ byteLength }) => byteLength);
    const { body, isCopy } = joinBlobs(blobs);
    if (body.byteLength === 0) {
      this.post(make({ blobByteLengths, stream: 0 }));
      options.onSent?.();
      return { cancel: () => false };
    }
    const isOwned = isCopy || (options.isOwned ?? false);
    const all = { ...options, isOwned };
    const job: Job = { make, blobByteLengths, body, options: all, stream: 0, sent: 0 };
    this.#jobs.push(job);
    this.#pump();
    return { cancel: () => this.#cancel(job) };
  }

  grant(byteCount: number): void {
    this.#credit = Math.min(this.#credit + byteCount, this.#channel.windowByteLength);
    this.#pump();
  }

  end(): void {
    this.#isEnded = true;
    this.#jobs.length = 0;
  }

  #cancel(job: Job): boolean {
    const index = this.#jobs.indexOf(job);
    if (index < 0) return false;
    this.#jobs.splice(index, 1);
    if (job.stream !== 0) this.post({ type: MessageType.abandon, stream: job.stream });
    return true;
  }

  #pump(): void {
    for (let job = this.#jobs[0]; job !== undefined && !this.#isEnded; job = this.#jobs[0]) {
      const size = Math.min(job.body.byteLength - job.sent, this.#channel.pieceByteLength);
      if (size > this.#credit) return;
      this.#credit -= size;
      this.#jobs.shift();
      this.#sendPart(job, size);
      job.options.onProgress?.(job.sent);
      if (job.sent < job.body.byteLength) this.#jobs.push(job);
      else job.options.onSent?.();
    }
  }

  #sendPart(job: Job, size: number): void {
    const { make, blobByteLengths, body } = job;
    const isWhole = size === body.byteLength;
    if (isWhole) {
      const message = make({ blobByteLengths, stream: 0 });
      this.post(message, body, job.options.isOwned);
    } else {
      if (job.stream === 0) {
        job.stream = this.#nextStream++;
        this.post(make({ blobByteLengths, stream: job.stream }));
      }
      const piece = body.subarray(job.sent, job.sent + size);
      this.post({ type: MessageType.piece, stream: job.stream }, piece);
    }
    job.sent += size;
  }
}

/** One array with all blobs, each at a multiple of 8; a single one as it is. */
function joinBlobs(blobs: readonly Uint8Array[]): { body: Uint8Array; isCopy: boolean } {
  const [first] = blobs;
  if (blobs.length <= 1) return { body: first ?? new Uint8Array(0), isCopy: false };
  const body = new Uint8Array(bodyByteLength(blobs.map(({ byteLength }) => byteLength)));
  let offset = 0;
  for (const blob of blobs) {
    body.set(blob, offset);
    offset += align(blob.byteLength);
  }
  return { body, isCopy: true };
}

/** Bytes of the body that holds blobs of these lengths. */
export function bodyByteLength(blobByteLengths: readonly number[]): number {
  if (blobByteLengths.length === 1) return blobByteLengths[0] ?? 0;
  return blobByteLengths.reduce((sum, length) => sum + align(length), 0);
}

export function splitBody(body: Uint8Array, blobByteLengths: readonly number[]): Uint8Array[] {
  let offset = 0;
  return blobByteLengths.map((length) => {
    const blob = body.subarray(offset, offset + length);
    offset += align(length);
    return blob;
  });
}

function align(byteLength: number): number {
  return Math.ceil(byteLength / ALIGNMENT) * ALIGNMENT;
}
