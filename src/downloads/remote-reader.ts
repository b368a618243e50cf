import { abortError, DownloadError } from '../core/errors.ts';
import type { FileVersion } from './file-version.ts';
import { CompressedPart, PassingFailure, requestRange } from './range-request.ts';

interface RemoteReaderOptions {
  readonly signal?: AbortSignal | undefined;
  /** The version that bytes have to be of; by default that of the first answer. */
  readonly version?: FileVersion | undefined;
  /** True if the caller keeps what it reads, so that the browser's HTTP cache need not. */
  readonly isKept?: boolean | undefined;
  /** The wait before another try, which doubles each time. Default 250. */
  readonly retryMs?: number | undefined;
}

/** Tries in a row that bring no byte. */
const TRIES = 5;
const RETRY_MS = 250;

/** A gap that is read over, because a new request would take longer. */
const GAP_BYTES = 2 ** 18;

/**
 * Reads a file of a server by ranges, in one request as long as reads follow each other. A connection that breaks is
 * taken up where it broke; bytes of two versions of the file never mix.
 */
export class RemoteReader {
  readonly url: string;
  /** The version of the file, once the server has answered. */
  version: FileVersion | undefined;
  /** True if the server sends ranges; undefined before its first answer. */
  hasRanges: boolean | undefined;
  readonly #options: RemoteReaderOptions;
  #body: ReadableStreamDefaultReader<Uint8Array> | undefined;
  /** The place in the file of what comes next from the body, and where the request ends. */
  #position = 0;
  #requestEnd = 0;
  /** Where the server sent no byte of a range, the whole file is asked for. */
  #isWhole = false;
  #hasBytes = false;
  /** Bytes that were received but not read yet. */
  #rest: Uint8Array = new Uint8Array();

  constructor(url: string, options: RemoteReaderOptions = {}) {
    this.url = url;
    this.version = options.version;
    this.#options = options;
  }

  /** Bytes of the file, where known. */
  get byteLength(): number | undefined {
    return this.version?.byteLength;
  }

  /**
   * Bytes from `begin` on, fewer where the file ends before `end`. The request asks for bytes up to
   * `until`, which further reads take from the same answer. Rejects with DownloadError or the
   * signal's reason.
   */
  async read(begin: number, end: number, until = end): Promise<Uint8Array> {
    const bytes = new Uint8Array(Math.max(0, Math.min(end, this.byteLength ?? end) - begin));
    let loaded = 0;
    for (let failures = 0; loaded < bytes.byteLength; ) {
      try {
        const chunk = await this.#next(begin + loaded, { most: bytes.byteLength - loaded, until });
        if (chunk === undefined) break;
        bytes.set(chunk, loaded);
        loaded += chunk.byteLength;
        failures = 0;
      } catch (error) {
        this.close();
        this.#options.signal?.throwIfAborted();
        if (!(error instanceof PassingFailure)) throw error;
        // A server that compresses, or a network that knows no ranges.
        if (error instanceof CompressedPart || !this.#hasBytes) {
          if (!this.#isWhole) {
            this.#isWhole = true;
            this.version = this.#options.version;
            continue;
          }
        }
        // Nobody has answered yet: rather a wrong address than a bad connection.
        const isFirst = this.hasRanges === undefined;
        if (isFirst || ++failures === TRIES) throw this.#gaveUp(begin + loaded, error);
        const { retryMs = RETRY_MS, signal } = this.#options;
        await pause(retryMs * 2 ** (failures - 1), signal);
      }
    }
    return bytes.subarray(0, loaded);
  }

  /** Bytes of a range of a request of its own. Undefined where the server sends no ranges; rejects as `requestRange` does. */
  async peek(begin: number, end: number): Promise<Uint8Array | undefined> {
    const { url, version } = this;
    const { signal } = this.#options;
    if (this.hasRanges === false) return undefined;
    const request = { url, begin, end, version, signal, isWhole: false, isKeptHere: true };
    const { body, isPart, begin: first } = await requestRange(request);
    if (isPart && first === begin) return new Uint8Array(await new Response(body).arrayBuffer());
    await body?.cancel();
    return undefined;
  }

  /** Ends the request that is open. */
  close(): void {
    this.#body?.cancel().catch(() => undefined);
    this.#body = undefined;
    this.#rest = new Uint8Array();
  }

  /** Some bytes from a place on; undefined where the file ends. */
  async #next(
    at: number,
    { most, until }: { readonly most: number; readonly until: number },
  ): Promise<Uint8Array | undefined> {
    await this.#goTo(at, Math.max(at + most, until));
    while (this.#rest.byteLength === 0) {
      const result = await this.#receive();
      if (result !== undefined) this.#rest = result;
      // The server said nowhere how long the file is.
      else if (this.byteLength === undefined && at < this.#requestEnd) this.#endAt(at);
      else if (at >= (this.byteLength ?? Infinity)) return undefined;
      else if (at < this.#requestEnd) throw new PassingFailure('an end before all bytes had come');
      else {
        // A request of what was read before ends here: the next one follows, whose answer may begin before.
        this.close();
        await this.#goTo(at, Math.max(at + most, until));
      }
    }
    const chunk = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(chunk.byteLength);
    this.#position += chunk.byteLength;
    return chunk;
  }

  #endAt(byteLength: number): void {
    this.version = { ...this.version, byteLength };
  }

  async #receive(): Promise<Uint8Array | undefined> {
    const { signal } = this.#options;
    const body = this.#body;
    if (body === undefined) return undefined;
    const stop = (): void => void body.cancel().catch(() => undefined);
    signal?.addEventListener('abort', stop, { once: true });
    try {
      const { value } = await body.read();
      // Cancelling makes a pending read end as if all bytes had come.
      signal?.throwIfAborted();
      this.#hasBytes ||= value !== undefined;
      return value;
    } catch (cause) {
      signal?.throwIfAborted();
      throw new PassingFailure('a connection that broke off', { cause });
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /** Makes a place the next one of the body. */
  async #goTo(at: number, until: number): Promise<void> {
    const gap = at - this.#position;
    const isNear = gap >= 0 && (gap <= GAP_BYTES || this.hasRanges === false);
    if (this.#body === undefined || !isNear) await this.#connect(at, until);
    while (this.#position < at) {
      if (this.#rest.byteLength === 0) {
        const chunk = await this.#receive();
        if (chunk === undefined) {
          if (this.hasRanges === false) return;
          await this.#connect(at, until);
          continue;
        }
        this.#rest = chunk;
      }
      const skipped = Math.min(at - this.#position, this.#rest.byteLength);
      this.#rest = this.#rest.subarray(skipped);
      this.#position += skipped;
    }
  }

  async #connect(begin: number, end: number): Promise<void> {
    this.close();
    const { signal, isKept = false } = this.#options;
    const { url, version } = this;
    const isWhole = this.#isWhole;
    const answer = await requestRange({
      url,
      begin,
      end,
      version,
      signal,
      isWhole,
      isKeptHere: isKept,
    });
    const { byteLength = version?.byteLength } = answer.version;
    // Of the first answer; one that lacks a header takes nothing away.
    this.version = { ...answer.version, ...version, byteLength };
    this.hasRanges = answer.isPart;
    this.#body = answer.body?.getReader();
    this.#position = answer.begin;
    this.#requestEnd = Math.min(answer.isPart ? end : Infinity, byteLength ?? Infinity);
    if (answer.begin > begin) {
      throw new DownloadError({
        where: url,
        got: `bytes from ${answer.begin} on`,
        expected: `bytes from ${begin} on`,
      });
    }
  }

  #gaveUp(at: number, cause: PassingFailure): DownloadError {
    const { url, byteLength, hasRanges } = this;
    const isFirst = hasRanges === undefined;
    const of = byteLength === undefined ? '' : ` of ${byteLength}`;
    return new DownloadError(
      {
        where: url,
        got: isFirst ? cause.message : `${at}${of} bytes, then ${cause.message}, ${TRIES} times`,
        expected: isFirst ? 'bytes of the file' : 'all bytes',
        remedy: isFirst
          ? 'Check the address, the connection, and that the server allows this origin.'
          : 'Load it again when there is a connection: what is kept of it is not fetched again.',
      },
      { cause, details: { url, loaded: at } },
    );
  }
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      if (signal !== undefined) reject(abortError(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
