import { DownloadError } from '../../core/errors.ts';
import { isFile } from '../../core/node-builtin.ts';
import type { RangeFile } from '../../downloads/range-file.ts';
import type { FilesSource } from '../protocol/wire-source.ts';
import type { SourceFiles } from './source-files.ts';

/**
 * Files in the folder of a model, or in folders below it, read in pieces. Those of models that are kept are kept with them;
 * all others are fetched once, as blobs, which the browser need not keep in memory.
 */
export class SiblingFiles {
  readonly #base: string | undefined;
  readonly #signal: AbortSignal;
  readonly #blobs = new Map<string, Promise<Blob>>();
  /** The source of kept files, which is asked when the first sibling is read. */
  readonly #files: FilesSource | undefined;
  #kept: SourceFiles | undefined;

  /** `url`: of the model, undefined for one that came as bytes. */
  constructor(url: string | undefined, files: FilesSource | undefined, signal: AbortSignal) {
    this.#base = url;
    this.#signal = signal;
    this.#files = files;
  }

  /** Bytes of a file. Rejects with DownloadError; gives fewer bytes where the file ends before. */
  async read(
    path: string,
    range: { readonly byteOffset: number; readonly byteLength: number },
  ): Promise<Uint8Array> {
    if (this.#files !== undefined) {
      const { SourceFiles } = await import('./source-files.ts');
      this.#kept ??= new SourceFiles(this.#files, this.#signal);
      const file = await this.#kept.open(path);
      if (file === undefined && this.#files.bytes !== undefined) throw noFile(path);
      return readKept(file ?? (await this.#kept.get(path)), range);
    }
    const url = this.#urlOf(path);
    if (isFile(url))
      return (await import('../../downloads/node-file.ts')).readFileRange(url, range);
    const known = this.#blobs.get(path);
    const pending = known ?? this.#fetch(url);
    if (known === undefined) this.#blobs.set(path, pending);
    const blob = await pending;
    this.#signal.throwIfAborted();
    const piece = blob.slice(range.byteOffset, range.byteOffset + range.byteLength);
    return new Uint8Array(await piece.arrayBuffer());
  }

  /** Ends requests that are open. */
  close(): void {
    this.#kept?.close();
  }

  #urlOf(path: string): string {
    if (this.#base === undefined || /^(blob|data):/.test(this.#base)) throw noFile(path);
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    return new URL(`./${encoded}`, this.#base).href;
  }

  async #fetch(url: string): Promise<Blob> {
    let response: Response;
    try {
      response = await fetch(url, { signal: this.#signal });
    } catch (cause) {
      if (this.#signal.aborted) throw cause;
      const complaint = { where: url, got: 'no answer', expected: 'tensors of the model' };
      throw new DownloadError(complaint, { cause, details: { url } });
    }
    const { status, statusText } = response;
    if (response.ok) return response.blob();
    throw new DownloadError(
      { where: url, got: `HTTP ${status} ${statusText}`.trim(), expected: 'tensors of the model' },
      { details: { status, url } },
    );
  }
}

/** `details.file` is the path, for which the page may ask who gave the model. */
function noFile(path: string): DownloadError {
  return new DownloadError(
    {
      where: path,
      got: 'a model that has tensors in this file, but no folder',
      expected: 'the option externalData, or the URL of the model, beside which the file lies',
      remedy: 'Give the file: Session.load(bytes, { externalData: (name) => blob }).',
    },
    { details: { file: path } },
  );
}

async function readKept(
  file: RangeFile,
  { byteOffset, byteLength }: { readonly byteOffset: number; readonly byteLength: number },
): Promise<Uint8Array> {
  await file.verify();
  return file.read(byteOffset, byteOffset + byteLength, { until: file.byteLength });
}
