import { writeJson } from '../report.ts';
import { aborted, interrupted } from '../rpc/rpc-commands.ts';
import type { Terminal } from '../terminal.ts';
import { readdir, realpath, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, extname, join, sep } from 'node:path';
import { UsageError } from '../../core/errors.ts';
import { findPackageFiles, type ServedPage } from './serve-package.ts';
import sirv from 'sirv';

interface ServeOptions {
  /** A folder, or a file: then its folder is served. */
  readonly path: string;
  /** The port; 0 takes any that is free. */
  readonly port: number;
  /** A content security policy, for every answer. */
  readonly policy?: string | undefined;
  /** Makes pages cross-origin isolated, so that they may share memory with workers. */
  readonly isIsolated: boolean;
  /** Lets pages of other origins read the files. */
  readonly isShared: boolean;
}

/** Types of files that the server's own table lacks. Files of unknown types are bytes. */
const MODEL_TYPES: Readonly<Record<string, string>> = {
  '.weft': 'application/octet-stream',
  '.onnx': 'application/octet-stream',
  '.gguf': 'application/octet-stream',
  '.safetensors': 'application/octet-stream',
  '.npy': 'application/octet-stream',
  '.wasm': 'application/wasm',
};

const ISOLATION = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

/** Where pages find this package: `import { Session } from '/weft-vm/client.js'`. */
const PACKAGE = '/weft-vm/';

/**
 * Serves a folder on loopback, with byte ranges, as a page with models needs it, and the files of this package below
 * `/weft-vm/`. Hidden files and links out of the folder are not served, and only loopback names are answered. Throws
 * UsageError for a path that is not there, and for a port that is taken.
 */
export async function serveFolder(options: ServeOptions): Promise<ServedPage> {
  const { folder, file } = await splitPath(options.path);
  const shared = headersOf(options);
  // Only the very file that was asked for: what is tried beside it may be a link.
  const files = sirv(folder, { dev: true, etag: true, extensions: [], setHeaders: setType });
  const ownFolder = findPackageFiles();
  const own = ownFolder === undefined ? undefined : sirv(ownFolder, { dev: true, etag: true });
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(shared)) response.setHeader(name, value);
    const pathname = pathOf(request);
    const status = refusal(request, pathname);
    if (status !== undefined || pathname === undefined) {
      response.writeHead(status ?? 404).end();
      return;
    }
    void answerFile(request, response, { folder, pathname, files, own });
  });
  await listen(server, options.port);
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  return {
    url: file === undefined ? url : `${url}${encodeURIComponent(file)}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function splitPath(path: string): Promise<{ folder: string; file?: string }> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return { folder: await realpath(path) };
  if (found?.isFile()) return { folder: await realpath(dirname(path)), file: basename(path) };
  throw new UsageError({ where: path, got: 'no such file', expected: 'a file or a folder' });
}

function headersOf({ policy, isIsolated, isShared }: ServeOptions): Record<string, string> {
  return {
    'X-Content-Type-Options': 'nosniff',
    // Models are looked at anew each time, and not sent again when they are the same.
    'Cache-Control': 'no-cache',
    ...(policy !== undefined && { 'Content-Security-Policy': policy }),
    ...(isIsolated && ISOLATION),
    ...(isShared
      ? {
          'Access-Control-Allow-Origin': '*',
          'Access-Control-Expose-Headers': 'Content-Length, Content-Range, ETag',
          'Cross-Origin-Resource-Policy': 'cross-origin',
        }
      : { 'Cross-Origin-Resource-Policy': 'same-origin' }),
  };
}

function setType(response: ServerResponse, pathname: string): void {
  const type = MODEL_TYPES[extname(pathname).toLowerCase()];
  if (type !== undefined) response.setHeader('Content-Type', type);
}

/** Undefined for what is no path. */
function pathOf({ url = '/' }: IncomingMessage): string | undefined {
  try {
    return decodeURIComponent(new URL(url, 'http://_').pathname);
  } catch {
    return undefined;
  }
}

function refusal(
  { method, headers: { host = '' } }: IncomingMessage,
  pathname: string | undefined,
): number | undefined {
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host)) return 421;
  if (method !== 'GET' && method !== 'HEAD') return 405;
  return pathname === undefined || pathname.includes('\0') ? 404 : undefined;
}

/**
 * Resolves to true if a path leads, links followed, to something within the folder, and through
 * nothing hidden.
 */
async function isInside(folder: string, pathname: string): Promise<boolean> {
  if (pathname.split(/[/\\]/).some((part) => part.startsWith('.'))) return false;
  const real = await realpath(join(folder, pathname)).catch(() => undefined);
  return real !== undefined && (real === folder || real.startsWith(folder + sep));
}

const INDEX = 'index.html';

interface FileRequest {
  readonly folder: string;
  readonly pathname: string;
  readonly files: ReturnType<typeof sirv>;
  /** Undefined where the package was not built. */
  readonly own: ReturnType<typeof sirv> | undefined;
}

async function answerFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: FileRequest,
): Promise<void> {
  const other = (): void => void answerOther(request, response, file);
  if (!(await isInside(file.folder, file.pathname))) return other();
  const found = await stat(join(file.folder, file.pathname)).catch(() => undefined);
  if (found?.isDirectory()) {
    if (!(await isInside(file.folder, join(file.pathname, INDEX)))) return other();
    const { pathname } = new URL(request.url ?? '/', 'http://_');
    const url = `${pathname.replace(/\/$/, '')}/${INDEX}`;
    Object.assign(request, { url, _parsedUrl: undefined });
  }
  file.files(request, response, other);
}

/** The package's files, a list of a folder without `index.html`, or nothing. */
async function answerOther(
  request: IncomingMessage,
  response: ServerResponse,
  { folder, pathname, own }: FileRequest,
): Promise<void> {
  const notFound = (): void => void response.writeHead(404).end();
  if (own !== undefined && pathname.startsWith(PACKAGE)) {
    const rest = request.url?.slice(PACKAGE.length - 1) ?? '/';
    own(Object.assign(request, { url: rest, _parsedUrl: undefined }), response, notFound);
    return;
  }
  if (!pathname.endsWith('/') || !(await isInside(folder, pathname))) return notFound();
  const entries = await readdir(join(folder, pathname), { withFileTypes: true }).catch(
    () => undefined,
  );
  if (entries === undefined) return notFound();
  const names = entries
    .filter(({ name }) => !name.startsWith('.'))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
  response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
  response.end(listPage(pathname, names.toSorted()));
}

function listPage(pathname: string, names: readonly string[]): string {
  const items = names.map(
    (name) => `<li><a href="./${encodeURI(name)}">${escapeHtml(name)}</a></li>`,
  );
  const title = escapeHtml(pathname);
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8" /><title>${title}</title></head>
<body><h1>${title}</h1><ul>${items.join('\n')}</ul></body>
</html>
`;
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

async function listen(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new UsageError(
          { where: 'weft serve', got: `port ${port}, which is taken`, expected: 'a free port' },
          { cause },
        ),
      ),
    );
    server.listen(port, '127.0.0.1', resolve);
  });
}

/** Policies by name; another text is a policy itself. */
const POLICIES: Readonly<Record<string, string | undefined>> = {
  none: undefined,
  strict: "default-src 'self'",
  wasm: "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'",
};

export interface ServeFlags {
  readonly port: number;
  readonly csp: string;
  readonly isolated?: boolean;
  readonly cors?: boolean;
  readonly json?: boolean;
}

/** `weft serve`: serves a folder on this machine until the signal. */
export async function serveFilesCommand(
  path: string,
  { port, csp, isolated = false, cors = false, json = false }: ServeFlags,
  terminal: Terminal,
  signal: AbortSignal = interrupted(),
): Promise<number> {
  const policy = Object.hasOwn(POLICIES, csp) ? POLICIES[csp] : csp;
  const served = await serveFolder({
    path,
    port,
    policy,
    isIsolated: isolated,
    isShared: cors,
  });
  if (json) writeJson(terminal, 'serve', { url: served.url, policy });
  else terminal.out(`${path} at ${served.url}\n`);
  await aborted(signal);
  await served.close();
  return 0;
}
