import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { gzipSync } from 'node:zlib';

export interface PageServer {
  /** Such as `http://127.0.0.1:1234`. */
  readonly origin: string;
  /** Answers these paths besides the files, until the next call. */
  offer(files: ReadonlyMap<string, Uint8Array>): void;
  /** Bytes of the bodies sent since the last call: of runtimes (compressed) and of cases. */
  takeSentBytes(): SentBytes;
  close(): void;
}

export interface SentBytes {
  readonly runtime: number;
  readonly cases: number;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};

interface Body {
  readonly bytes: Uint8Array;
  readonly isCompressed: boolean;
}

interface ServedFolders {
  readonly pages: string;
  readonly peers: string;
  /** Files below `peers` to be compressed at once. */
  readonly warm: readonly string[];
  /** True if pages are cross-origin isolated, and may share memory with workers. */
  readonly isIsolated: boolean;
}

const ISOLATION = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

/**
 * A static server: files below `pages`, those of the peers below `/peers/`, and the offered ones.
 * Code is sent gzipped (level 9, compressed once), weights and tensors as they are. As static servers
 * do, it tells a browser that has a file whether it is still the same, and sends it no second time.
 */
export async function servePages({
  pages,
  peers,
  warm,
  isIsolated,
}: ServedFolders): Promise<PageServer> {
  const bodies = new Map<string, Body | undefined>();
  let offered: ReadonlyMap<string, Uint8Array> = new Map();
  let runtime = 0;
  let cases = 0;
  const started = Date.now();

  function bodyOf(path: string): Body | undefined {
    if (!bodies.has(path)) bodies.set(path, readBody(path, { pages, peers }));
    return bodies.get(path);
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const path = normalize(decodeURIComponent(new URL(request.url ?? '/', 'http://_').pathname));
    const own = offered.get(path);
    const body = own === undefined ? bodyOf(path) : { bytes: own, isCompressed: false };
    if (body === undefined) {
      response.writeHead(404).end();
      return;
    }
    // Files do not change while the server runs.
    const etag = `"${started}"`;
    const shared = { etag, 'cache-control': 'no-cache', ...(isIsolated && ISOLATION) };
    if (own === undefined && request.headers['if-none-match'] === etag) {
      response.writeHead(304, shared).end();
      return;
    }
    if (own === undefined) runtime += body.bytes.byteLength;
    else cases += body.bytes.byteLength;
    response.writeHead(200, {
      'content-type': TYPES[extname(path)] ?? 'application/octet-stream',
      'content-length': body.bytes.byteLength,
      ...(own === undefined ? shared : isIsolated && ISOLATION),
      ...(body.isCompressed && { 'content-encoding': 'gzip' }),
    });
    response.end(body.bytes);
  }

  // Compressing takes seconds for the largest files: no cold start shall wait for it.
  for (const name of readdirSync(pages, { recursive: true })) bodyOf(`/${String(name)}`);
  for (const name of warm) bodyOf(`/peers/${name}`);
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('internal: no port');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    offer(files) {
      offered = files;
    },
    takeSentBytes() {
      const sent = { runtime, cases };
      runtime = 0;
      cases = 0;
      return sent;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function readBody(path: string, { pages, peers }: Pick<ServedFolders, 'pages' | 'peers'>) {
  const file = path.startsWith('/peers/') ? join(peers, path.slice(7)) : join(pages, path);
  if (!existsSync(file) || !statSync(file).isFile()) return undefined;
  return { bytes: gzipSync(readFileSync(file), { level: 9 }), isCompressed: true };
}
