import { DownloadError } from '../core/errors.ts';
import { type FileVersion, ifRangeOf, isSameVersion, versionOf } from './file-version.ts';

/** Which bytes of a file are asked for. */
interface RangeRequest {
  readonly url: string;
  readonly begin: number;
  /** The offset behind the last byte. */
  readonly end: number;
  readonly version: FileVersion | undefined;
  readonly signal: AbortSignal | undefined;
  /** Keeps the browser from keeping a second copy. */
  readonly isKeptHere: boolean;
  /** Asks for the whole file. */
  readonly isWhole: boolean;
}

/** The answer: bytes from `begin` on. */
interface RangeAnswer {
  readonly begin: number;
  readonly body: ReadableStream<Uint8Array> | null;
  readonly version: FileVersion;
  /** True if the server sent the range; false if it sent the whole file. */
  readonly isPart: boolean;
}

/** A status that may be another one a moment later. */
const PASSING = [408, 425, 429, 500, 502, 503, 504];

/** A failure that may not happen again. */
export class PassingFailure extends Error {}

/** A part of a compressed file is none of the file. */
export class CompressedPart extends PassingFailure {}

/**
 * Asks for a range of a file. A server without ranges answers with the whole file. Rejects with DownloadError,
 * also for another version than the one asked for, and with PassingFailure where it is worth another try.
 */
export async function requestRange(request: RangeRequest): Promise<RangeAnswer> {
  const { url, begin, end, version } = request;
  const response = await send(request);
  const { status, headers, body } = response;
  if (status === 416) return behindTheEnd(request, response);
  if (status === 206 && headers.has('content-encoding')) {
    await body?.cancel().catch(() => undefined);
    throw new CompressedPart('a part that is compressed');
  }
  if (status !== 206 && status !== 200) {
    await body?.cancel().catch(() => undefined);
    throw refused(url, response);
  }
  if (isPage(response)) {
    await body?.cancel().catch(() => undefined);
    throw new DownloadError(
      {
        where: url,
        got: 'a page in HTML',
        expected: 'bytes of the file',
        remedy: 'Check the address: many servers answer so for a file that they do not have.',
      },
      { details: { url, isPage: true } },
    );
  }
  const length = headers.has('content-encoding') ? undefined : lengthOf(headers);
  const [from, total] =
    status === 200 ? [0, length] : contentRange(headers, { begin, end, length });
  const got = versionOf(response, total);
  if (version !== undefined && !isSameVersion(version, got)) {
    await body?.cancel().catch(() => undefined);
    throw changed(url);
  }
  return { begin: from, body, version: got, isPart: status === 206 };
}

async function send({ url, begin, end, version, signal, isKeptHere, isWhole }: RangeRequest) {
  const headers: Record<string, string> = isWhole ? {} : { range: `bytes=${begin}-${end - 1}` };
  // To another origin this header would take a permission of its own. Answers say their version in any case.
  const condition = version && isOwnOrigin(url) ? ifRangeOf(version) : undefined;
  if (condition !== undefined) headers['if-range'] = condition;
  try {
    const cache = isKeptHere ? 'no-store' : 'default';
    return await fetch(url, { headers, signal: signal ?? null, cache });
  } catch (cause) {
    signal?.throwIfAborted();
    throw new PassingFailure('no answer', { cause });
  }
}

/** Without a page there are no origins. */
function isOwnOrigin(url: string): boolean {
  const { origin } = globalThis as { readonly origin?: string };
  return origin === undefined || new URL(url).origin === origin;
}

function lengthOf(headers: Headers): number | undefined {
  const length = headers.get('content-length');
  return length === null ? undefined : Number(length);
}

interface RequestedRange {
  readonly begin: number;
  readonly end: number;
  /** How many bytes the answer has, as its headers say. */
  readonly length: number | undefined;
}

/** Where an answer begins, and how long the file is. Another origin may hide the header that says so. */
function contentRange(
  headers: Headers,
  { begin, end, length }: RequestedRange,
): readonly [begin: number, total: number | undefined] {
  const [, from, all] =
    /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '') ?? [];
  const isLast = length !== undefined && length < end - begin;
  const total = all === undefined || all === '*' ? undefined : Number(all);
  return [Number(from ?? begin), total ?? (isLast ? begin + length : undefined)];
}

/** No byte of the range exists: the file ends before, or another one has taken its place. */
function behindTheEnd({ url, begin, version }: RangeRequest, response: Response): RangeAnswer {
  const [, all] = /^bytes \*\/(\d+)$/.exec(response.headers.get('content-range') ?? '') ?? [];
  const total = all === undefined ? begin : Number(all);
  const got = versionOf(response, total);
  if (version !== undefined && !isSameVersion(version, got)) throw changed(url);
  return { begin, body: null, version: got, isPart: true };
}

/**
 * The version of the file that the server has now; `absent` if it has none, undefined where it does
 * not answer.
 */
export async function requestVersion(
  url: string,
  signal: AbortSignal | undefined,
): Promise<FileVersion | 'absent' | undefined> {
  const ask = (init: RequestInit): Promise<Response> =>
    fetch(url, { ...init, signal: signal ?? null, cache: 'no-store' });
  try {
    const response = await ask({ method: 'HEAD' });
    if (isAbsent(response) || isPage(response)) return 'absent';
    if (response.ok) {
      const isPlain = !response.headers.has('content-encoding');
      return versionOf(response, isPlain ? lengthOf(response.headers) : undefined);
    }
    // An address that is signed for one method refuses others.
    const first = await ask({ headers: { range: 'bytes=0-0' } });
    await first.body?.cancel();
    if (isAbsent(first) || isPage(first)) return 'absent';
    if (!first.ok) throw refused(url, first);
    const total = first.status === 206 ? contentRange(first.headers, ONE_BYTE)[1] : undefined;
    return versionOf(first, total);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof DownloadError) throw error;
    return undefined;
  }
}

const ONE_BYTE: RequestedRange = { begin: 0, end: 1, length: undefined };

/** Returns true if an answer, or the details of an error, mean that there is no such file. */
export const isAbsent = ({ status, isPage }: { status?: unknown; isPage?: unknown }): boolean =>
  status === 404 || status === 410 || isPage === true;

/** The page of an application, with which its server answers for what it does not have. */
const isPage = ({ ok, headers }: Response): boolean =>
  ok && /^text\/html\b/.test(headers.get('content-type') ?? '');

function refused(url: string, { status, statusText }: Response): Error {
  const got = `HTTP ${status} ${statusText}`.trim();
  if (PASSING.includes(status)) return new PassingFailure(got);
  return new DownloadError(
    { where: url, got, expected: 'bytes of the file' },
    { details: { status, url } },
  );
}

function changed(url: string): DownloadError {
  return new DownloadError(
    {
      where: url,
      got: 'another version of the file than at the begin of the download',
      expected: 'all bytes from one version',
      remedy: 'Load it again: it begins with the new version.',
    },
    { details: { url, changed: true } },
  );
}
