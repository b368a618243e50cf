import { concatenate } from '../../core/bytes/concatenate.ts';
import { DownloadError } from '../../core/errors.ts';
import { isFile } from '../../core/node-builtin.ts';
import type { OpenedSource } from './opened-source.ts';
import {
  type FilesSource,
  type HttpInfo,
  httpInfo,
  type StoredSource,
  type WireSource,
} from '../protocol/wire-source.ts';

/** A source of one stream of bytes. */
export type OpenableSource = Exclude<WireSource, FilesSource | StoredSource>;

/** Opens a source for reading. Throws DownloadError with status and URL. */
export async function openSource(
  source: OpenableSource,
  signal: AbortSignal,
): Promise<OpenedSource> {
  switch (source.kind) {
    case 'url': {
      if (isFile(source.url)) return (await import('./file-source.ts')).openFile(source.url);
      const response = await request(source, signal);
      return fromHttp(response.body, { ...httpInfo(response), url: source.url });
    }
    case 'stream':
      if (source.http !== undefined) return fromHttp(source.stream, source.http);
      if (source.stream === null) throw new DownloadError('The stream has no body.');
      return { stream: source.stream, byteLength: undefined, where: 'stream' };
    case 'blob':
      return { stream: source.blob.stream(), byteLength: source.blob.size, where: 'blob' };
    case 'bytes':
      return {
        stream: streamOf(source.bytes),
        byteLength: source.bytes.byteLength,
        where: 'bytes',
      };
    default:
      return source satisfies never;
  }
}

async function request(
  { url, early }: Extract<WireSource, { kind: 'url' }>,
  signal: AbortSignal,
): Promise<Response> {
  try {
    return await (early?.shift() ?? fetch(url, { signal }));
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new DownloadError(
      {
        where: url,
        got: 'no answer',
        expected: 'the bytes of a program',
        remedy: 'Check the address, the connection, and that the server allows this origin.',
      },
      { cause, details: { url } },
    );
  }
}

function fromHttp(body: ReadableStream<Uint8Array> | null, http: HttpInfo): OpenedSource {
  const { status, statusText, byteLength } = http;
  const url = http.url === '' ? 'response' : http.url;
  if (status >= 200 && status < 300 && body !== null) {
    return { stream: body, byteLength, where: url };
  }
  throw new DownloadError(
    { where: url, got: `HTTP ${status} ${statusText}`.trim(), expected: 'the bytes of a program' },
    { details: { status, url } },
  );
}

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}

/** A source whose first bytes were looked at, counted as it is read. */
export interface PeekedSource {
  /** The first bytes, at least as many as asked for unless the source is shorter. */
  readonly head: Uint8Array;
  /** All bytes, the first ones included. */
  readonly stream: ReadableStream<Uint8Array>;
}

interface PeekOptions {
  readonly headByteLength: number;
  readonly signal: AbortSignal;
  /** Gets the number of bytes so far. */
  readonly onBytes: (loaded: number) => void;
}

/** Reads the first bytes ahead. */
export async function peek(
  { stream, byteLength, where }: OpenedSource,
  { headByteLength, signal, onBytes }: PeekOptions,
): Promise<PeekedSource> {
  const reader = stream.getReader();
  let loaded = 0;
  const stop = (): void => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener('abort', stop, { once: true });
  const forget = (): void => signal.removeEventListener('abort', stop);
  const read = async (): Promise<Uint8Array | undefined> => {
    let result: ReadableStreamReadResult<Uint8Array>;
    try {
      result = await reader.read();
    } catch (cause) {
      forget();
      signal.throwIfAborted();
      const of = byteLength === undefined ? '' : ` of ${byteLength}`;
      throw new DownloadError(
        { where, got: `${loaded}${of} bytes, then an error`, expected: 'all bytes' },
        { cause, details: { loaded } },
      );
    }
    // Cancelling makes a pending read end as if all bytes had come.
    signal.throwIfAborted();
    if (result.done) {
      forget();
      return undefined;
    }
    loaded += result.value.byteLength;
    onBytes(loaded);
    return result.value;
  };

  const chunks: Uint8Array[] = [];
  for (let missing = headByteLength; missing > 0; ) {
    const chunk = await read();
    if (chunk === undefined) break;
    chunks.push(chunk);
    missing -= chunk.byteLength;
  }
  const head = concatenate(chunks);
  return {
    head,
    stream: new ReadableStream<Uint8Array>(
      {
        start(controller) {
          if (head.byteLength > 0) controller.enqueue(head);
        },
        async pull(controller) {
          const chunk = await read();
          if (chunk === undefined) controller.close();
          else controller.enqueue(chunk);
        },
        cancel(reason) {
          forget();
          return reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    ),
  };
}
