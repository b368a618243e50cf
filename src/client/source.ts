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
 * page and fetched by the worker. Bytes are copied.
 */
export async function toWireSource(source: SessionSource): Promise<Prepared> {
  if (typeof source === 'string' || source instanceof URL) {
    const base = typeof document === 'undefined' ? globalThis.location?.href : document.baseURI;
    return { source: { kind: 'url', url: new URL(source, base).href }, transfers: [] };
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
  const bytes = source instanceof ArrayBuffer ? source.slice(0) : Uint8Array.from(source).buffer;
  return { source: { kind: 'bytes', bytes: new Uint8Array(bytes) }, transfers: [bytes] };
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
