/** A file of which parts are read. */
export interface RangeFile {
  readonly url: string;
  readonly byteLength: number;
  /** Bytes from `begin` to before `end`, fewer where the file ends before. */
  read(begin: number, end: number, options?: ReadOptions): Promise<Uint8Array>;
  /**
   * A few bytes of a file of a server, by a request of their own beside those of `read`, and not kept. Undefined where they
   * do not come alone: the server sends no ranges, or all bytes are here. Rejects as `requestRange` does, without another try.
   */
  peek?(begin: number, end: number): Promise<Uint8Array | undefined>;
  /**
   * Reads all, if a hash was given for it, and rejects with DownloadError for another one. Called for the bytes as they come, the
   * first time.
   */
  verify(onBytes?: (count: number) => void): Promise<void>;
  /** Ends requests that are open. */
  close(): void;
}

export interface ReadOptions {
  /** Where the bytes end that will be read next, one range behind the other: they come with one request. */
  readonly until?: number | undefined;
  /** Called for the bytes of this range as they come. */
  readonly onBytes?: ((count: number) => void) | undefined;
}

/** Reads all bytes of a file. */
export async function readWhole(file: RangeFile): Promise<Uint8Array> {
  await file.verify();
  return file.read(0, file.byteLength);
}

/** All bytes of a file, block by block, which ends with the stream. */
export function streamOf(file: RangeFile, chunkByteLength = 2 ** 21): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (at >= file.byteLength) {
          file.close();
          return controller.close();
        }
        const end = at + chunkByteLength;
        const bytes = await file.read(at, end, { until: file.byteLength });
        at = end;
        controller.enqueue(bytes);
      },
      cancel: () => file.close(),
    },
    { highWaterMark: 0 },
  );
}
