import type { RangeFile, ReadOptions } from './range-file.ts';

/** A file of which all bytes are there. */
export class LoadedFile implements RangeFile {
  readonly url: string;
  readonly byteLength: number;
  readonly #bytes: Uint8Array | Blob;

  constructor(name: string, bytes: Uint8Array | Blob) {
    this.url = name;
    this.byteLength = bytes instanceof Blob ? bytes.size : bytes.byteLength;
    this.#bytes = bytes;
  }

  async read(begin: number, end: number, { onBytes }: ReadOptions = {}): Promise<Uint8Array> {
    const all = this.#bytes;
    const bytes =
      all instanceof Blob
        ? new Uint8Array(await all.slice(begin, end).arrayBuffer())
        : all.subarray(begin, end);
    onBytes?.(bytes.byteLength);
    return bytes;
  }

  async verify(): Promise<void> {
    // Whoever gave the bytes knows them.
  }

  close(): void {
    // Nothing is open.
  }
}
