import { UsageError } from '../core/errors.ts';
import { allocate } from '../core/allocate.ts';
import { parseUrl } from '../core/parse-url.ts';
import { httpInfo, type WireSource } from '../worker/protocol.ts';

/** Where a session comes from: a `.weft` executable or an `.onnx` model, told apart by content. */
export type SessionSource =
  | string
  | URL
  | ArrayBuffer
  | Uint8Array
  | Blob
  | ReadableStream<Uint8Array>
  | Response;

interface Prepared {
  readonly source: WireSource;
  readonly transfers: Transferable[];
}

/**
 * The source as the worker takes it, with what is to be transferred. URLs are resolved against the
 * page and fetched by the worker; where there is no page, a text that is no URL is the path of a file.
 * Bytes are copied. Rejects with UsageError for what is no source, and with OutOfMemoryError.
 */
export async function toWireSource(source: SessionSource): Promise<Prepared> {
  if (typeof source === 'string' || source instanceof URL) {
    return { source: { kind: 'url', url: await resolveUrl(source) }, transfers: [] };
  }
  if (source instanceof Blob) return { source: { kind: 'blob', blob: source }, transfers: [] };
  if (source instanceof Response) {
    const http = httpInfo(source);
    const { body } = source;
    if (body === null) return { source: { kind: 'stream', stream: body, http }, transfers: [] };
    return transferable(body, { kind: 'stream', stream: body, http });
  }
  if (source instanceof ReadableStream)
    return transferable(source, { kind: 'stream', stream: source });
  const bytes = copyBytes(source);
  return { source: { kind: 'bytes', bytes }, transfers: [bytes.buffer] };
}

async function resolveUrl(source: string | URL): Promise<string> {
  const base = typeof document === 'undefined' ? globalThis.location?.href : document.baseURI;
  if (base === undefined && typeof source === 'string') {
    const { fileUrl } = await import('./file-url.ts');
    return fileUrl(source);
  }
  return parseUrl(source, base);
}

function copyBytes(source: ArrayBuffer | Uint8Array): Uint8Array<ArrayBuffer> {
  const isBytes = ArrayBuffer.isView(source) && source.BYTES_PER_ELEMENT === 1;
  // Of another realm, such as a frame's, it is no instance of this one's class.
  if (!isBytes && Object.prototype.toString.call(source) !== '[object ArrayBuffer]') {
    throw new UsageError({
      where: 'Session.load',
      got: source === null ? 'null' : typeof source,
      expected: 'a URL, an ArrayBuffer, a Uint8Array, a Blob, a stream or a Response',
    });
  }
  const view = ArrayBuffer.isView(source) ? source : new Uint8Array(source);
  return allocate(view.byteLength, () => new Uint8Array(view));
}

/** Where streams cannot be posted, the stream is read to its end here. */
async function transferable(
  stream: ReadableStream<Uint8Array>,
  source: WireSource,
): Promise<Prepared> {
  const probe = new ReadableStream();
  try {
    structuredClone(probe, { transfer: [probe] });
  } catch {
    const blob = await new Response(stream).blob();
    return { source: { kind: 'blob', blob }, transfers: [] };
  }
  return { source, transfers: [stream] };
}
