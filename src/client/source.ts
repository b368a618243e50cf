import { UsageError } from '../core/errors.ts';
import { allocate } from '../core/bytes/allocate.ts';
import { describe, requireKind } from '../core/check-options.ts';
import { baseUrl, parseUrl } from '../core/parse-url.ts';
import { httpInfo, type WireSource } from '../worker/protocol/wire-source.ts';

/** Where a session comes from: a `.weft` executable or an `.onnx` model, told apart by content. */
export type SessionSource =
  | string
  | URL
  | ArrayBuffer
  | Uint8Array
  | Blob
  | ReadableStream<Uint8Array>
  | Response;

/** Gives the file of a name that a model has beside it. */
export type ExternalData = (
  name: string,
) => Blob | ArrayBuffer | Uint8Array | Promise<Blob | ArrayBuffer | Uint8Array>;

/** A source as the worker takes it. */
export interface PreparedSource {
  readonly source: WireSource;
  readonly transfers: Transferable[];
}

/**
 * The source as the worker takes it, with what is to be transferred. URLs are resolved against the
 * page and fetched by the worker; where there is no page, a text that is no URL is the path of a file.
 * Bytes are copied. Rejects with UsageError for what is no source, and with OutOfMemoryError.
 * With `here` this thread reads the source, and asks for it while it loads the code that does.
 */
export async function toWireSource(
  source: SessionSource,
  here: RequestInit | false,
): Promise<PreparedSource> {
  if (typeof source === 'string' || source instanceof URL) {
    const base = baseUrl();
    // Without waiting where there is a page: the request goes out before code is asked for.
    const url =
      base === undefined && typeof source === 'string'
        ? (await import('./start/file-url.ts')).fileUrl(source)
        : parseUrl(source, base);
    const early = here && url.startsWith('http') ? [fetch(url, here)] : undefined;
    // Whoever reads the answer reports the failure.
    early?.[0]?.catch(() => undefined);
    return { source: { kind: 'url', url, early }, transfers: [] };
  }
  if (source instanceof Blob) return { source: { kind: 'blob', blob: source }, transfers: [] };
  if (source instanceof Response) {
    const { body } = source;
    const wire = { kind: 'stream', stream: body, http: httpInfo(source) } as const;
    return body === null ? { source: wire, transfers: [] } : transferable(body, wire);
  }
  if (source instanceof ReadableStream)
    return transferable(source, { kind: 'stream', stream: source });
  // Of `weft-vm/text`, whose models are in several files.
  if ((source as { kind?: unknown } | null)?.kind === 'files')
    return { source: source as unknown as WireSource, transfers: [] };
  const bytes = copyBytes(source);
  return { source: { kind: 'bytes', bytes }, transfers: [bytes.buffer] };
}

function copyBytes(source: ArrayBuffer | Uint8Array): Uint8Array<ArrayBuffer> {
  const isBytes = ArrayBuffer.isView(source) && source.BYTES_PER_ELEMENT === 1;
  // Of another realm, such as a frame's, it is no instance of this one's class.
  if (!isBytes && Object.prototype.toString.call(source) !== '[object ArrayBuffer]') {
    throw new UsageError({
      where: 'Session.load',
      got: describe(source),
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
): Promise<PreparedSource> {
  requireKind(
    'Session.load',
    ['one that nothing has read', () => !stream.locked],
    ['it as', stream],
  );
  const probe = new ReadableStream();
  try {
    structuredClone(probe, { transfer: [probe] });
  } catch {
    const blob = await new Response(stream).blob();
    return { source: { kind: 'blob', blob }, transfers: [] };
  }
  return { source, transfers: [stream] };
}
