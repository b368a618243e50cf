import { having, requireKind, requireMaker } from '../../core/check-options.ts';
import { concatenate } from '../../core/bytes/concatenate.ts';
import { UsageError, abortError, FormatError } from '../../core/errors.ts';
import type { DataBlock } from './data-layout.ts';
import { DataPadding } from './data-padding.ts';
import type { ExecutableData } from '../executable.ts';
import { HEADER_BYTE_LENGTH } from './file-format.ts';
import { checkHash, hashedHead, readHeader } from './file-head.ts';
import { blockPlace, checkFileLength, type FileHead, parseHead } from '../text/parse-head.ts';
import { platformSha256 } from '../../core/bytes/platform-sha256.ts';

/** How bytes are taken from a stream. */
interface ByteStreamOptions {
  readonly signal?: AbortSignal | undefined;
  /** Gets the number of bytes that have arrived so far. */
  readonly onBytes?: ((received: number) => void) | undefined;
}

/**
 * Takes exact numbers of bytes from a stream whose chunks are cut anywhere. Holds what was asked
 * for and the rest of one chunk, never more.
 */
class ByteStream {
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

export type { DataBlock } from './data-layout.ts';

/** SHA-256 of each block of a data section. */
export interface DataHashes {
  /** Bytes of each block but the last, which may be shorter. */
  readonly blockByteLength: number;
  /** 32 bytes for each block, in order. */
  readonly hashes: readonly Uint8Array[];
}

interface ReaderOptions extends ByteStreamOptions {
  /** Bytes of the stream, where they are known: a file of another length is refused at once. */
  readonly byteLength?: number | undefined;
}

/**
 * Reads a `.weft` file from a stream: first the program, checked and verified, then the data
 * section block by block, so that no more than one block has to be in memory.
 */
export class ExecutableReader {
  /** The program, once {@link open} has read the head. */
  readonly executable: ExecutableData;
  readonly #stream: ByteStream;
  readonly #head: FileHead;
  #started = false;

  private constructor(stream: ByteStream, head: FileHead) {
    requireMaker('ExecutableReader.open', stream instanceof ByteStream);
    this.#stream = stream;
    this.#head = head;
    this.executable = head.program;
  }

  /**
   * Resolves when everything before the data section has arrived and has been verified. Rejects
   * with FormatError, VerifyError, the signal's reason, or the stream's own error; the stream is
   * then cancelled.
   */
  static async open(
    stream: ReadableStream<Uint8Array>,
    { byteLength, ...options }: ReaderOptions = {},
  ): Promise<ExecutableReader> {
    const where = 'ExecutableReader.open';
    requireKind(where, having('a ReadableStream', 'getReader'), ['what is', stream]);
    const source = new ByteStream(stream, options);
    try {
      const start = await source.take(HEADER_BYTE_LENGTH, 'header');
      const header = readHeader(start);
      if (byteLength !== undefined) checkFileLength(header, byteLength);
      const rest = await source.take(header.headByteLength - HEADER_BYTE_LENGTH, 'head');
      const head = concatenate([start, rest]);
      const hash = await platformSha256(hashedHead(head));
      return new ExecutableReader(source, parseHead(head, header, hash));
    } catch (error) {
      await source.cancel(error);
      throw error;
    }
  }

  /** SHA-256 of each block of the data section. */
  get dataHashes(): DataHashes {
    const { header, blockHashes } = this.#head;
    return { blockByteLength: header.blockByteLength, hashes: blockHashes };
  }

  /**
   * The data section in order and without gaps, once. A block is checked against its SHA-256
   * before it is given out. Fails as {@link open} does; leaving the loop early cancels the stream.
   */
  async *blocks(): AsyncGenerator<DataBlock, void> {
    if (this.#started) {
      throw new UsageError({
        where: 'ExecutableReader.blocks',
        got: 'a second call',
        expected: 'one: the stream can be read once',
      });
    }
    this.#started = true;
    const { header, program, blockHashes } = this.#head;
    const padding = new DataPadding(program);
    let finished = false;
    try {
      for (const [index, expectedHash] of blockHashes.entries()) {
        const byteOffset = index * header.blockByteLength;
        const byteLength = Math.min(header.blockByteLength, header.dataByteLength - byteOffset);
        const bytes = await this.#stream.take(byteLength, `data block ${index}`);
        checkHash(await platformSha256(bytes), expectedHash, blockPlace(index, header));
        padding.check(bytes, byteOffset);
        yield { byteOffset, bytes };
      }
      await this.#stream.end();
      finished = true;
    } finally {
      if (!finished) await this.#stream.cancel(undefined);
    }
  }
}
