import { existsSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../../core/errors.ts';

/** A server on loopback. */
export interface ServedPage {
  /** Its address, which ends in a slash. */
  readonly url: string;
  close(): Promise<void>;
}

/** A file of a page that is in memory, or one of the disk that is read when it is asked for. */
export type OwnFile =
  | { readonly type: string; readonly body: string | Uint8Array }
  | { readonly type: string; readonly path: string };

interface PackageOptions {
  /** Files by their paths; those of the package lie below `/files/`. */
  readonly own: Readonly<Record<string, OwnFile>>;
  readonly policy: string;
  /** The port; 0 takes any that is free. */
  readonly port: number;
  /** The folder with the package's files. Default: where this one lies. */
  readonly files?: string | undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript',
  map: 'application/json',
  css: 'text/css',
};

/**
 * Serves a page on loopback, with the files of this package for it. Only loopback names are answered, so that no page of
 * another origin reads it by a name of its own. Throws UsageError where the package was not built.
 */
export async function servePackage(options: PackageOptions): Promise<ServedPage> {
  const { own, policy, port, files: folder = packageFiles() } = options;
  const server = createServer((request, response) => {
    void answer(request, own, folder).then(({ status, type = 'text/plain', body = '' }) => {
      response.writeHead(status, {
        'Content-Type': type,
        'Content-Security-Policy': policy,
        'X-Content-Type-Options': 'nosniff',
        'Cross-Origin-Resource-Policy': 'same-origin',
        'Cache-Control': 'no-store',
      });
      if (!(body instanceof Readable)) response.end(body);
      // Whoever asked may leave before the end.
      else pipeline(body, response, () => undefined);
      return undefined;
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly body?: string | Uint8Array | Readable;
}

async function answer(
  { method, url = '/', headers: { host = '' } }: IncomingMessage,
  own: PackageOptions['own'],
  folder: string,
): Promise<Answer> {
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host)) return { status: 421 };
  if (method !== 'GET' && method !== 'HEAD') return { status: 405 };
  try {
    // Throws for `//`, which is no path.
    const { pathname } = new URL(url, 'http://_');
    const file = Object.hasOwn(own, pathname) ? own[pathname] : undefined;
    if (file !== undefined) return { status: 200, ...(await opened(file, method)) };
    // `new URL` has taken out what leads upwards, but for what is encoded.
    const path = normalize(join(folder, decodeURIComponent(pathname.replace(/^\/files\//, '/'))));
    const type = TYPES[path.slice(path.lastIndexOf('.') + 1)];
    if (!pathname.startsWith('/files/') || !path.startsWith(folder) || type === undefined) {
      return { status: 404 };
    }
    return { status: 200, type, body: await readFile(path) };
  } catch {
    return { status: 404 };
  }
}

/** Rejects where the file cannot be read. It may be larger than an array. */
async function opened(file: OwnFile, method: string): Promise<Omit<Answer, 'status'>> {
  if ('body' in file) return file;
  const handle = await open(file.path);
  const body = handle.createReadStream();
  if (method === 'HEAD') body.destroy();
  return method === 'HEAD' ? { type: file.type } : { type: file.type, body };
}

/** Where the files of the package lie, beside this one or above its chunk; undefined where it was not built. */
export function findPackageFiles(): string | undefined {
  const folders = ['./', '../', '../../../dist/'].map((way) =>
    fileURLToPath(new URL(way, import.meta.url)),
  );
  return folders.find((folder) => existsSync(join(folder, 'inspector.js')));
}

function packageFiles(): string {
  const found = findPackageFiles();
  if (found !== undefined) return found;
  throw new UsageError({
    where: 'the files of the package',
    got: 'no inspector.js beside this one',
    expected: 'a package that was built',
    remedy: 'Run npm run build.',
  });
}
