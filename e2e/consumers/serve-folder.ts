import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';

/** Gives the headers for a path. */
export type Headers = (path: string) => Readonly<Record<string, string>>;

export interface FolderServer {
  readonly origin: string;
  close(): Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/** Files of a folder on a loopback port of their own, and 404 for all others. */
export async function serveFolder(folder: string, headers: Headers): Promise<FolderServer> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? '/', 'http://_');
    const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
    const bytes = await readFile(join(folder, normalize(path))).catch(() => undefined);
    const type = TYPES[extname(path)] ?? 'application/octet-stream';
    if (bytes === undefined) {
      response.writeHead(404, { 'content-type': 'text/plain', ...headers(path) }).end('not here');
    } else response.writeHead(200, { 'content-type': type, ...headers(path) }).end(bytes);
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
