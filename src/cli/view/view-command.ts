import { basename, dirname, join } from 'node:path';
import type { CompileLimits } from '../../core/limits/compile-limits.ts';
import { isExecutableFile } from '../files/open-executable.ts';
import { readBytes } from '../files/read-file.ts';
import { formatOf, looksLikeText, readProgram } from '../files/read-program.ts';
import { writeJson } from '../report.ts';
import { aborted, interrupted } from '../rpc/rpc-commands.ts';
import type { Terminal } from '../terminal.ts';
import { type OwnFile, type ServedPage, servePackage } from '../serve/serve-package.ts';

interface ViewOptions {
  /** The bytes of a `.weft` file. */
  readonly executable: Uint8Array;
  readonly title: string;
  /** The source that it was compiled from; undefined for a file that was an executable. */
  readonly source?: ServedSource | undefined;
  readonly device: string;
  /** The port; 0 takes any that is free. */
  readonly port: number;
  /** The folder with the package's files. Default: where this one lies. */
  readonly files?: string | undefined;
}

/** The source of a program, for the view of passes. */
interface ServedSource {
  readonly bytes: Uint8Array;
  /** True for a program in text form; false for a model. */
  readonly isText: boolean;
  readonly dims: Readonly<Record<string, number>>;
  /** Files beside the model that hold tensors of it, by what the model calls them. No others are served. */
  readonly siblings?: ReadonlyMap<string, string> | undefined;
}

const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; frame-ancestors 'none'";

/** Serves the inspector on loopback, with a program. Throws UsageError where the package was not built. */
export function serveView({ port, files, ...shown }: ViewOptions): Promise<ServedPage> {
  return servePackage({ own: ownFiles(shown), policy: POLICY, port, files });
}

/** The page, its script and its style, the program and its source. */
function ownFiles({
  executable,
  title,
  device,
  source,
}: Omit<ViewOptions, 'port' | 'files'>): Readonly<Record<string, OwnFile>> {
  const facts = { title, device, dims: source?.dims, isText: source?.isText };
  return {
    '/': { type: 'text/html; charset=utf-8', body: PAGE },
    '/view.js': { type: 'text/javascript', body: SCRIPT },
    '/view.css': { type: 'text/css', body: CSS },
    '/view.json': { type: 'application/json', body: JSON.stringify(facts) },
    '/program.weft': { type: BYTES, body: executable },
    ...(source && { '/beside/model': { type: BYTES, body: source.bytes } }),
    ...Object.fromEntries(
      [...(source?.siblings ?? [])].map(([name, path]) => [
        siblingUrl(name),
        { type: BYTES, path },
      ]),
    ),
  };
}

const BYTES = 'application/octet-stream';

/** The path by which the compiler in the page asks for a file beside `/beside/model`. */
function siblingUrl(name: string): string {
  const encoded = name.split('/').map(encodeURIComponent).join('/');
  return new URL(`./${encoded}`, 'http://_/beside/model').pathname;
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
  const source = await fetch('/beside/model');
  return isText ? source.text() : source.arrayBuffer();
};
// Beside it lie files with its tensors.
const url = new URL('/beside/model', location.href).href;
const compiledFrom = isText === undefined ? undefined : { model, dims, file: title, url };
try {
  const session = await Session.load('/program.weft', { device });
  await inspector.show({ session, title, compiledFrom });
} catch (error) {
  const executable = await (await fetch('/program.weft')).arrayBuffer();
  await inspector.show({ executable, title: title + ': ' + error.message, compiledFrom });
}
`;

export interface ViewFlags {
  readonly port: number;
  readonly device: string;
  readonly dim?: Record<string, number>;
  readonly limit?: CompileLimits;
  readonly json?: boolean;
}

/** `weft view`: serves the inspector with a program on this machine until the signal. */
export async function viewCommand(
  path: string,
  { port, device, dim = {}, limit, json }: ViewFlags,
  terminal: Terminal,
  signal: AbortSignal = interrupted(),
): Promise<number> {
  const program = await readProgram(path, { dims: dim, compileLimits: limit });
  const executable = program.toBytes();
  const source = await sourceOf(path, dim);
  const view = await serveView({ executable, title: basename(path), source, device, port });
  if (json === true) writeJson(terminal, 'view', { url: view.url });
  else terminal.out(`${basename(path)} at ${view.url}\n`);
  await aborted(signal);
  await view.close();
  return 0;
}

/** Reads the source of a program; undefined for an executable. */
export async function sourceOf(
  path: string,
  dims: Record<string, number>,
): Promise<ServedSource | undefined> {
  if (await isExecutableFile(path)) return undefined;
  const bytes = await readBytes(path);
  if (looksLikeText(path, bytes)) return { bytes, isText: true, dims };
  const { externalRanges } = await formatOf(bytes, path);
  const names = externalRanges(bytes).map((range) => range.path);
  const siblings = new Map(names.map((name) => [name, join(dirname(path), name)]));
  return { bytes, isText: false, dims, siblings };
}
