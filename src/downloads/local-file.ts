import { DownloadError } from '../core/errors.ts';
import { integrityHash } from './integrity.ts';
import { openNodeFile, readFileRange } from './node-file.ts';
import type { RangeFile, ReadOptions } from './range-file.ts';

/** Opens a file of the disk, in Node; undefined where there is none. Rejects with DownloadError. */
export async function openLocalFile(
  url: string,
  { integrity }: { readonly integrity?: string | undefined },
): Promise<RangeFile | undefined> {
  try {
    const file = await openNodeFile(url);
    const { size } = await file.stat();
    await file.close();
    return new LocalFile(url, size, integrity);
  } catch (error) {
    if (error instanceof DownloadError && error.details['code'] === 'ENOENT') return undefined;
    throw error;
  }
}

class LocalFile implements RangeFile {
  readonly url: string;
  readonly byteLength: number;
  readonly #integrity: string | undefined;

  constructor(url: string, byteLength: number, integrity: string | undefined) {
    this.url = url;
    this.byteLength = byteLength;
    this.#integrity = integrity;
  }

  async read(begin: number, end: number, { onBytes }: ReadOptions = {}): Promise<Uint8Array> {
    const range = { byteOffset: begin, byteLength: end - begin };
    const bytes = await readFileRange(this.url, range);
    onBytes?.(bytes.byteLength);
    return bytes;
  }

  async verify(onBytes?: ReadOptions['onBytes']): Promise<void> {
    if (this.#integrity === undefined) return;
    const hash = await integrityHash(this.#integrity);
    for (let at = 0; at < this.byteLength; at += PIECE_BYTES) {
      hash.update(await this.read(at, at + PIECE_BYTES, { onBytes }));
    }
    hash.require(this.url);
  }

  close(): void {
    // Nothing is open between reads.
  }
}

const PIECE_BYTES = 2 ** 22;
