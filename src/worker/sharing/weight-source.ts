import type { DataBlock, DataHashes } from '../../bytecode/file/executable-reader.ts';
import { platformSha256 } from '../../core/bytes/platform-sha256.ts';
import { FormatError } from '../../core/errors.ts';
import { loadProgram } from '../sources/load-program.ts';
import type { CompileTables } from '../host/loaded-program.ts';
import type { LoadRequest } from '../protocol/load-request.ts';
import type { WeightFile, WeightFolder } from './weight-files.ts';

interface KeptBlock {
  readonly byteOffset: number;
  readonly byteLength: number;
  readonly hash: Uint8Array;
  /** The bytes, where there is no file and the source cannot be read again. */
  blob?: Blob;
}

interface WeightSourceOptions {
  readonly request: LoadRequest;
  /** Hashes of the data section, as far as they are known. */
  readonly hashes: DataHashes | undefined;
  readonly folder: WeightFolder | undefined;
  /** Tables with which the model is compiled again; undefined for an executable. */
  readonly tables?: CompileTables | undefined;
}

/**
 * The data section of a program after it was loaded: kept in a file, else read from the source again,
 * else, of a stream, kept as blobs. Whatever it comes from, each block is checked against its SHA-256.
 */
export class WeightSource {
  readonly #name = crypto.randomUUID();
  readonly #folder: WeightFolder | undefined;
  readonly #hashes: DataHashes | undefined;
  readonly #tables: CompileTables | undefined;
  readonly #blocks: KeptBlock[] = [];
  /** Undefined when it cannot be read again, or need not. */
  #request: LoadRequest | undefined;
  #file: WeightFile | undefined;

  constructor({ request, hashes, folder, tables }: WeightSourceOptions) {
    this.#request = request.source.kind === 'stream' ? undefined : request;
    this.#hashes = hashes;
    this.#tables = tables;
    this.#folder = folder;
  }

  /** Passes the blocks of the first load on, and keeps them. */
  async *keep(blocks: AsyncIterable<DataBlock>): AsyncGenerator<DataBlock, void> {
    this.#file = await this.#folder?.create(this.#name).catch(() => undefined);
    for await (const block of blocks) {
      const { byteOffset, bytes } = block;
      const hash = this.#hashes?.hashes[this.#blocks.length] ?? (await platformSha256(bytes));
      const kept: KeptBlock = { byteOffset, byteLength: bytes.byteLength, hash };
      if (!this.#write(block)) await this.#giveUpFile();
      if (this.#file === undefined && this.#request === undefined) kept.blob = toBlob(bytes);
      this.#blocks.push(kept);
      yield block;
    }
    if (this.#file !== undefined && this.#request?.source.kind === 'bytes') {
      this.#request = undefined;
    }
  }

  /**
   * The blocks again. Fails with FormatError when they are not what they were, with DownloadError, or
   * with the signal's reason.
   */
  async *read(signal: AbortSignal): AsyncGenerator<DataBlock, void> {
    let done = 0;
    if (this.#file !== undefined || this.#request === undefined) {
      for (const kept of this.#blocks) {
        signal.throwIfAborted();
        const bytes = await this.#readKept(kept);
        if (!(await isIntact(bytes, kept))) break;
        done++;
        yield { byteOffset: kept.byteOffset, bytes };
      }
      if (done === this.#blocks.length) return;
    }
    if (this.#request === undefined) throw changed('the kept weights of a session');
    await this.#dropFile();
    yield* this.#readSource(this.#request, done, signal);
  }

  async dispose(): Promise<void> {
    this.#blocks.length = 0;
    await this.#dropFile();
  }

  async *#readSource(
    request: LoadRequest,
    begin: number,
    signal: AbortSignal,
  ): AsyncGenerator<DataBlock, void> {
    const { source } = request;
    const where = source.kind === 'url' ? source.url : source.kind;
    const onProgress = (): void => undefined;
    const { blocks } = await loadProgram(request, { signal, onProgress, tables: this.#tables });
    let index = 0;
    for await (const block of blocks) {
      const kept = this.#blocks[index++];
      if (kept?.byteOffset !== block.byteOffset) throw changed(where);
      if (!(await isIntact(block.bytes, kept))) throw changed(where);
      if (index > begin) yield block;
    }
    if (index < this.#blocks.length) throw changed(where);
  }

  /** False when the file takes no more: the origin's share of the disk is used up. */
  #write({ byteOffset, bytes }: DataBlock): boolean {
    if (this.#file === undefined) return true;
    try {
      return this.#file.write(bytes, { at: byteOffset }) === bytes.byteLength;
    } catch {
      return false;
    }
  }

  async #giveUpFile(): Promise<void> {
    if (this.#request === undefined) {
      for (const kept of this.#blocks) kept.blob = toBlob(await this.#readKept(kept));
    }
    await this.#dropFile();
  }

  async #readKept({ byteOffset, byteLength, blob }: KeptBlock): Promise<Uint8Array> {
    if (blob !== undefined) return new Uint8Array(await blob.arrayBuffer());
    const bytes = new Uint8Array(byteLength);
    this.#file?.read(bytes, { at: byteOffset });
    return bytes;
  }

  async #dropFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    file?.close();
    if (file !== undefined) await this.#folder?.remove(this.#name).catch(() => undefined);
  }
}

function toBlob(bytes: Uint8Array): Blob {
  return new Blob([bytes as Uint8Array<ArrayBuffer>]);
}

async function isIntact(bytes: Uint8Array, { byteLength, hash }: KeptBlock): Promise<boolean> {
  if (bytes.byteLength !== byteLength) return false;
  const actual = await platformSha256(bytes);
  return hash.every((byte, index) => byte === actual[index]);
}

function changed(where: string): FormatError {
  return new FormatError({
    where,
    got: 'other weights than when the session was loaded',
    expected: 'the same bytes',
    remedy: 'Load the session again.',
  });
}
