import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../../core/errors.ts';

export interface ServedView {
  /** The address of the page, on loopback. */
  readonly url: string;
  close(): Promise<void>;
}

export interface ViewOptions {
  /** The bytes of a `.weft` file. */
  readonly executable: Uint8Array;
  readonly title: string;
  /** What it was compiled from; undefined for a file that was an executable. */
  readonly source?: ServedSource | undefined;
  /** The device that the page runs it on. */
  readonly device: string;
  /** 0: any that is free. */
  readonly port: number;
  /** The folder with the package's files. Default: where this one lies. */
  readonly files?: string | undefined;
}

/** The source of a program, for the view of passes. */
export interface ServedSource {
  readonly bytes: Uint8Array;
  /** Whether it is a program in text form, and no model. */
  readonly isText: boolean;
  readonly dims: Readonly<Record<string, number>>;
}

const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; frame-ancestors 'none'";
const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript',
  map: 'application/json',
  css: 'text/css',
};

/**
 * Serves the inspector on loopback, with a program. Only loopback names are answered, so that no page of another origin
 * reads the program by a name of its own. Throws UsageError where the package was not built.
 */
export async function serveView(options: ViewOptions): Promise<ServedView> {
  const folder = options.files ?? packageFiles();
  const own = ownFiles(options);
  const server = createServer((request, response) => {
    void answer(request, own, folder).then(({ status, type = 'text/plain', body = '' }) => {
      response.writeHead(status, {
        'Content-Type': type,
        'Content-Security-Policy': POLICY,
        'X-Content-Type-Options': 'nosniff',
        'Cross-Origin-Resource-Policy': 'same-origin',
        'Cache-Control': 'no-store',
      });
      response.end(body);
      return undefined;
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
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
  readonly body?: string | Uint8Array;
}

async function answer(
  { method, url = '/', headers: { host = '' } }: IncomingMessage,
  own: Readonly<Record<string, Answer>>,
  folder: string,
): Promise<Answer> {
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host)) return { status: 421 };
  if (method !== 'GET' && method !== 'HEAD') return { status: 405 };
  try {
    // Throws for `//`, which is no path.
    const { pathname } = new URL(url, 'http://_');
    if (Object.hasOwn(own, pathname)) return own[pathname] ?? { status: 404 };
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

/** The page, its script and its style, and the program. */
function ownFiles({
  executable,
  title,
  device,
  source,
}: ViewOptions): Readonly<Record<string, Answer>> {
  const text = (type: string, body: string): Answer => ({ status: 200, type, body });
  return {
    '/': text('text/html; charset=utf-8', PAGE),
    '/view.js': text('text/javascript', SCRIPT),
    '/view.css': text('text/css', CSS),
    '/view.json': text(
      'application/json',
      JSON.stringify({ title, device, dims: source?.dims, isText: source?.isText }),
    ),
    '/program.weft': { status: 200, type: 'application/octet-stream', body: executable },
    ...(source && {
      '/source': { status: 200, type: 'application/octet-stream', body: source.bytes },
    }),
  };
}

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>Weft inspector</title>
    <link rel="stylesheet" href="/view.css" />
    <script type="module" src="/view.js"></script>
  </head>
  <body><main></main></body>
</html>
`;

const CSS = `:root { color-scheme: light dark; }
body { margin: 0; }
weft-inspector { block-size: 100vh; border: 0; border-radius: 0; }
`;

/** Without a device the program is shown all the same. */
const SCRIPT = `import { Session } from '/files/client.js';
import { defineInspector } from '/files/inspector.js';

defineInspector();
const inspector = document.createElement('weft-inspector');
document.querySelector('main').append(inspector);
const { title, device, dims, isText } = await (await fetch('/view.json')).json();
document.title = title;
const model = async () => {
  const source = await fetch('/source');
  return isText ? source.text() : source.arrayBuffer();
};
const compiledFrom = isText === undefined ? undefined : { model, dims, file: title };
try {
  const session = await Session.load('/program.weft', { device });
  await inspector.show({ session, title, compiledFrom });
} catch (error) {
  const executable = await (await fetch('/program.weft')).arrayBuffer();
  await inspector.show({ executable, title: title + ': ' + error.message, compiledFrom });
}
`;

/** Where the files of the package lie: beside this one, or above its chunk. */
function packageFiles(): string {
  for (const way of ['./', '../', '../../../dist/']) {
    const folder = fileURLToPath(new URL(way, import.meta.url));
    if (existsSync(join(folder, 'inspector.js'))) return folder;
  }
  throw new UsageError({
    where: 'weft view',
    got: 'a package without inspector.js',
    expected: 'the files of the package, which are built',
    remedy: 'Run npm run build.',
  });
}
