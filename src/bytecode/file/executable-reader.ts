import { having, requireKind, requireMaker } from '../../core/check-options.ts';
import { concatenate } from '../../core/bytes/concatenate.ts';
import { UsageError } from '../../core/errors.ts';
import { ByteStream, type ByteStreamOptions } from './byte-stream.ts';
import type { DataBlock } from './data-layout.ts';
import { DataPadding } from './data-padding.ts';
import type { ExecutableData } from '../executable.ts';
import { HEADER_BYTE_LENGTH } from './file-format.ts';
import { checkHash, hashedHead, readHeader } from './file-head.ts';
import { blockPlace, checkFileLength, type FileHead, parseHead } from '../text/parse-head.ts';
import { platformSha256 } from '../../core/bytes/platform-sha256.ts';

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
