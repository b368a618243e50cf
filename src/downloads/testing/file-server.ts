import { gzipSync } from 'node:zlib';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a server got, and how many bytes of the file it sent. */
interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  readonly range: string | undefined;
  sentBytes: number;
}

/** A file of a server, and how it is served. All may be changed between requests. */
interface ServedFile {
  bytes: Uint8Array;
  etag?: string | undefined;
  lastModified?: string | undefined;
  /** The value of the header `Content-Type`. */
  type?: string | undefined;
  /** Answers requests for ranges; default true. */
  hasRanges?: boolean;
  /** Obeys `If-Range`; default true. */
  minds?: boolean;
  /** Default true; otherwise the body is sent in pieces, and no header says how long it is. */
  saysLength?: boolean;
  /** The bytes from the second request on. */
  later?: Uint8Array | undefined;
  /** Sends the compressed file, and ranges of that. */
  isCompressed?: boolean;
  /** Breaks the connection behind so many bytes of each answer, while it is there. */
  cutAfter?: number | undefined;
  /** Answers with it while it is there. */
  status?: number | undefined;
}

/** A server of files in memory, which breaks connections when asked to. */
export class FileServer {
  readonly files = new Map<string, ServedFile>();
  readonly requests: LoggedRequest[] = [];
  /** The answer to a request for what it does not have; undefined breaks the connection. */
  missing: number | undefined = 404;
  readonly #server = createServer((request, response) => this.#answer(request, response));

  static async start(): Promise<FileServer> {
    const server = new FileServer();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  url(path: string): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/${path}`;
  }

  /** Serves a file from now on. */
  serve(path: string, bytes: Uint8Array, how: Omit<ServedFile, 'bytes'> = {}): ServedFile {
    const file = { bytes, ...how };
    this.files.set(path, file);
    return file;
  }

  /** Bytes of bodies that were sent so far. */
  get sentBytes(): number {
    return this.requests.reduce((sum, { sentBytes }) => sum + sentBytes, 0);
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = (request.url ?? '').slice(1);
    const { range } = request.headers;
    const logged: LoggedRequest = { method: request.method ?? '', path, range, sentBytes: 0 };
    this.requests.push(logged);
    const file = this.files.get(path);
    if (file === undefined) {
      if (this.missing === undefined) response.destroy();
      else response.writeHead(this.missing).end('no such file');
      return;
    }
    if (file.status !== undefined) {
      response.writeHead(file.status).end();
      return;
    }
    const { etag, lastModified, hasRanges = true, saysLength = true, minds = true } = file;
    const bytes = file.isCompressed === true ? gzipSync(file.bytes) : file.bytes;
    file.bytes = file.later ?? file.bytes;
    if (file.isCompressed === true) response.setHeader('content-encoding', 'gzip');
    if (file.type !== undefined) response.setHeader('content-type', file.type);
    if (etag !== undefined) response.setHeader('etag', etag);
    if (lastModified !== undefined) response.setHeader('last-modified', lastModified);
    const condition = request.headers['if-range'];
    const isOther =
      minds && condition !== undefined && ![etag, lastModified].includes(String(condition));
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
    const isPart = hasRanges && from !== undefined && !isOther;
    const begin = isPart ? Number(from) : 0;
    if (isPart && begin >= bytes.byteLength) {
      response.writeHead(416, { 'content-range': `bytes */${bytes.byteLength}` }).end();
      return;
    }
    const end = isPart && to ? Math.min(Number(to) + 1, bytes.byteLength) : bytes.byteLength;
    if (isPart) {
      response.setHeader('content-range', `bytes ${begin}-${end - 1}/${bytes.byteLength}`);
    }
    if (saysLength) response.setHeader('content-length', end - begin);
    response.writeHead(isPart ? 206 : 200);
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    const { cutAfter = Infinity } = file;
    const body = bytes.subarray(begin, Math.min(end, begin + cutAfter));
    logged.sentBytes = body.byteLength;
    if (body.byteLength === end - begin) response.end(body);
    else response.write(body, () => void breakOff(response));
  }
}

/** Ends a connection once the other side, which is in this process, has taken what was sent. */
async function breakOff(response: ServerResponse): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  response.destroy();
}
