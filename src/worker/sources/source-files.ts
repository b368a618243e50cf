import { DownloadError } from '../../core/errors.ts';
import { LoadedFile } from '../../downloads/loaded-file.ts';
import { openFile } from '../../downloads/open-file.ts';
import type { RangeFile } from '../../downloads/range-file.ts';
import { requireOwnHashes, SMALL_FILES } from '../../core/bytes/require-own-hashes.ts';
import { platformSha256 } from '../../core/bytes/platform-sha256.ts';
import type { FileHead, FilesSource } from '../protocol/wire-source.ts';

/** The files of a model, by their names beside it. */
export class SourceFiles {
  /** The name of the model's own file. */
  readonly name: string;
  readonly #source: FilesSource;
  readonly #signal: AbortSignal;
  readonly #files = new Map<string, Promise<RangeFile | undefined>>();
  #onBytes: ((count: number) => void) | undefined;

  constructor(source: FilesSource, signal: AbortSignal) {
    this.#source = source;
    this.#signal = signal;
    const path = source.bytes === undefined ? new URL(source.url).pathname : source.url;
    this.name = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
  }

  /** A file; undefined where there is none. */
  open(name: string): Promise<RangeFile | undefined> {
    const file = this.#files.get(name) ?? this.#open(name);
    this.#files.set(name, file);
    return file;
  }

  /** Opens a file as {@link open} does. Rejects with DownloadError for a file that is not there. */
  async get(name: string): Promise<RangeFile> {
    const file = await this.open(name);
    if (file !== undefined) return file;
    const where = this.#source.bytes === undefined ? this.#urlOf(name) : name;
    throw new DownloadError({ where, got: 'no such file', expected: 'a file of the model' });
  }

  /** Bytes of a file, fewer at its end; undefined where there is none. */
  async read(name: string, begin: number, end: number): Promise<Uint8Array | undefined> {
    const file = await this.open(name);
    // All weights are read, one behind the other.
    const until = this.#onBytes && file?.byteLength;
    return file?.read(begin, end, { until, onBytes: this.#onBytes });
  }

  /**
   * From now on weights are read, with reports of progress; all files are open. Those whose hashes were given are checked
   * before. Rejects with UsageError for a hash of another file.
   */
  async readWeights(onBytes: (count: number) => void): Promise<void> {
    requireOwnHashes(this.#source.integrity, [...this.#files.keys(), ...SMALL_FILES]);
    for (const file of this.#files.values()) await (await file)?.verify();
    for (const [name, head] of Object.entries(this.#source.heads ?? {})) {
      await requireHead(await this.get(name), head);
    }
    this.#onBytes = onBytes;
  }

  close(): void {
    for (const file of this.#files.values()) {
      file.then(
        (opened) => opened?.close(),
        () => undefined,
      );
    }
  }

  async #open(name: string): Promise<RangeFile | undefined> {
    const { bytes, cache, integrity } = this.#source;
    if (bytes !== undefined) {
      const own = bytes[name];
      return own && new LoadedFile(name, own);
    }
    const file = await openFile(this.#urlOf(name), {
      cache,
      integrity: integrity[name],
      signal: this.#signal,
    });
    // Of a file that is opened in the middle of the weights.
    if (this.#onBytes !== undefined) await file?.verify();
    return file;
  }

  #urlOf(name: string): string {
    const { url } = this.#source;
    if (name === this.name) return url;
    const encoded = name.split('/').map(encodeURIComponent).join('/');
    return new URL(`./${encoded}`, url).href;
  }
}

/** Rejects with DownloadError for a file whose begin is not what the page read. */
async function requireHead(file: RangeFile, { byteLength, sha256 }: FileHead): Promise<void> {
  const own = await platformSha256(await file.read(0, byteLength));
  if (own.every((byte, i) => byte === sha256[i])) return;
  throw new DownloadError({
    where: file.url,
    got: 'another begin of the file for the tokenizer than for the weights',
    expected: 'one file',
    remedy: 'Load it again. The server gave two files under one address.',
  });
}
