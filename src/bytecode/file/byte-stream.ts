import { concatenate } from '../../core/bytes/concatenate.ts';
import { abortError, FormatError } from '../../core/errors.ts';

/** How bytes are taken from a stream. */
export interface ByteStreamOptions {
  readonly signal?: AbortSignal | undefined;
  /** Gets the number of bytes that have arrived so far. */
  readonly onBytes?: ((received: number) => void) | undefined;
}

/**
 * Takes exact numbers of bytes from a stream whose chunks are cut anywhere. Holds what was asked
 * for and the rest of one chunk, never more.
 */
export class ByteStream {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #signal: AbortSignal | undefined;
  readonly #onBytes: ((received: number) => void) | undefined;
  #rest: Uint8Array = new Uint8Array(0);
  #received = 0;

  constructor(stream: ReadableStream<Uint8Array>, { signal, onBytes }: ByteStreamOptions) {
    this.#reader = stream.getReader();
    this.#signal = signal;
    this.#onBytes = onBytes;
  }

  /**
   * The next `byteLength` bytes. Rejects with FormatError when the stream ends before, with the
   * signal's reason when it aborts, and with the stream's own error.
   */
  async take(byteLength: number, what: string): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    let missing = byteLength;
    while (missing > 0) {
      const chunk = this.#rest.length > 0 ? this.#rest : await this.#read();
      if (chunk === undefined) {
        throw new FormatError({
          where: `byte ${this.#received}`,
          got: 'the end of the file',
          expected: `${missing} more bytes of the ${what}`,
          remedy: 'The file is truncated; fetch or write it again.',
        });
      }
      const piece = chunk.subarray(0, missing);
      this.#rest = chunk.subarray(piece.length);
      missing -= piece.length;
      pieces.push(piece);
    }
    return concatenate(pieces);
  }

  /** Checks that the stream has ended. Rejects with FormatError when more comes. */
  async end(): Promise<void> {
    const more = this.#rest.length > 0 ? this.#rest : await this.#read();
    if (more === undefined) return;
    throw new FormatError({
      where: `byte ${this.#received - more.length}`,
      got: `${more.length} bytes or more after the data section`,
      expected: 'the end of the file',
      remedy: 'The file is damaged; fetch or write it again.',
    });
  }

  /** Lets the source stop; never rejects. */
  async cancel(reason: unknown): Promise<void> {
    try {
      await this.#reader.cancel(reason);
    } catch {
      // The stream has failed by itself; its error has been reported by `take`.
    }
  }

  async #read(): Promise<Uint8Array | undefined> {
    for (;;) {
      const { done, value } = await this.#readOrAbort();
      if (done) return undefined;
      this.#received += value.length;
      this.#onBytes?.(this.#received);
      if (value.length > 0) return value;
    }
  }

  async #readOrAbort(): Promise<ReadableStreamReadResult<Uint8Array>> {
    const signal = this.#signal;
    if (signal === undefined) return this.#reader.read();
    if (signal.aborted) throw abortError(signal);
    const stop = (): void => void this.cancel(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    try {
      const result = await this.#reader.read();
      // A stream that was cancelled looks like one that ended.
      if (signal.aborted) throw abortError(signal);
      return result;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }
}
