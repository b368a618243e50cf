import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright';
import type { Outcome } from './outcome.ts';
import { makeModels } from './make-models.ts';
import { type FolderServer, type Headers, serveFolder } from './serve-folder.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(HERE, '../..');
/** Without the first flag there is no adapter in headless Chromium. */
export const CHROMIUM_FLAGS = [
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  '--no-sandbox',
];

const OUTCOME_MS = 60_000;
const TOOL_MS = 240_000;
const POLL_MS = 100;

/** Makes apps that have the packed package installed, builds and serves them, and opens them. */
export class Lab {
  readonly #browser: Browser;
  readonly #packed: string;
  readonly #cleanups: (() => Promise<void> | void)[] = [];

  constructor(browser: Browser, packed: string) {
    this.#browser = browser;
    this.#packed = packed;
  }

  /**
   * The folder of a new app with the package in its node_modules, the models in `public/models` and
   * `models`, the files of `app/`, and those given.
   */
  makeApp(name: string, files: Readonly<Record<string, string>> = {}): string {
    const app = join(HERE, 'apps', name);
    rmSync(app, { recursive: true, force: true });
    cpSync(join(HERE, 'app'), app, { recursive: true });
    cpSync(this.#packed, join(app, 'node_modules/weft-vm'), { recursive: true });
    const manifest = { name, private: true, type: 'module', dependencies: { 'weft-vm': '*' } };
    const all = { 'package.json': JSON.stringify(manifest), ...files };
    for (const [path, text] of Object.entries(all)) {
      mkdirSync(dirname(join(app, path)), { recursive: true });
      writeFileSync(join(app, path), text);
    }
    this.addModels(join(app, 'public'));
    this.addModels(app);
    return app;
  }

  addModels(folder: string, models = makeModels()): void {
    for (const [name, bytes] of models) {
      const path = join(folder, 'models', name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, bytes);
    }
  }

  /** Path of a file of a package that this folder's package.json installs. */
  installed(path: string): string {
    return join(HERE, 'node_modules', path);
  }

  /** Runs a tool to its end. Rejects with its output when it fails. */
  tool(command: string, args: readonly string[], cwd: string): Promise<string> {
    const child = this.#spawn(command, args, cwd);
    const timer = setTimeout(() => child.process.kill(), TOOL_MS);
    return new Promise((resolve, reject) => {
      child.process.on('error', reject);
      child.process.on('exit', (code) => {
        clearTimeout(timer);
        if (code === 0) resolve(child.output());
        else reject(new Error(`${command} ${args.join(' ')}: ${child.output().slice(-2000)}`));
      });
    });
  }

  /** Starts a server and resolves to the address that it prints. It ends with {@link close}. */
  async server(command: string, args: readonly string[], cwd: string): Promise<string> {
    const child = this.#spawn(command, args, cwd);
    const until = Date.now() + OUTCOME_MS;
    while (Date.now() < until && child.process.exitCode === null) {
      // Colours split the address.
      const address = /https?:\/\/(?:localhost|127\.0\.0\.1):\d+/.exec(plain(child.output()))?.[0];
      if (address !== undefined) return address;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    throw new Error(`${command} ${args.join(' ')} gave no address: ${child.output().slice(-2000)}`);
  }

  async serve(folder: string, headers: Headers = () => ({})): Promise<FolderServer> {
    const server = await serveFolder(folder, headers);
    this.#cleanups.push(() => server.close());
    return server;
  }

  /** Opens a page and resolves to what it leaves in `globalThis.outcome`. */
  async open(address: string): Promise<Outcome> {
    return outcomeIn(await this.context(), address);
  }

  /** A browser that has seen nothing yet. */
  async context(): Promise<BrowserContext> {
    const context = await this.#browser.newContext();
    this.#cleanups.push(() => context.close());
    return context;
  }

  /** Opens a page, for those that look at it themselves. */
  async page(address: string): Promise<Page> {
    const page = await this.#browser.newPage();
    this.#cleanups.push(() => page.close());
    await page.goto(address);
    return page;
  }

  async close(): Promise<void> {
    for (const cleanup of this.#cleanups.splice(0).reverse()) await cleanup();
  }

  #spawn(command: string, args: readonly string[], cwd: string) {
    const env = { ...process.env, NO_COLOR: '1', CI: '1', NEXT_TELEMETRY_DISABLED: '1' };
    // What bundled this script set it, and tools take it for a wish.
    Reflect.deleteProperty(env, 'NODE_ENV');
    // In a group of its own, so that the processes of a tool end with it.
    const child = spawn(command, args, { cwd, env, detached: true });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data) => {
        output += String(data);
      });
    }
    this.#cleanups.push(() => endGroup(child));
    return { process: child, output: () => output };
  }
}

function endGroup({ pid, exitCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // It has ended meanwhile.
  }
}

/** Opens a page there and waits for its outcome; what the console says belongs to a failure. */
export async function outcomeIn(context: BrowserContext, address: string): Promise<Outcome> {
  const page = await context.newPage();
  const lines: string[] = [];
  page.on('console', (message) => lines.push(message.text()));
  page.on('pageerror', (error) => lines.push(error.message));
  // A development server compiles before it answers.
  await page.goto(address, { waitUntil: 'commit', timeout: TOOL_MS });
  const until = Date.now() + OUTCOME_MS;
  while (Date.now() < until) {
    const text = await page
      // A string, which a page's policy does not forbid here.
      .evaluate('JSON.stringify(globalThis.outcome)')
      // A server that reloads the page takes the context away.
      .catch(() => undefined);
    if (typeof text === 'string') return JSON.parse(text) as Outcome;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`${address} came to no outcome: ${lines.join('; ').slice(0, 2000)}`);
}

const plain = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- colours begin with one.
  text.replaceAll(/\u001b\[[\d;]*m/g, '');

/**
 * `npm pack`, unpacked: the folder of the package as npm installs it. It builds first, unless `isBuilt`.
 */
export function packPackage(isBuilt: boolean): string {
  const folder = join(ROOT, '.weft-cache/consumers');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const args = isBuilt ? ['--ignore-scripts'] : [];
  run('npm', ['pack', ...args, '--pack-destination', folder], ROOT);
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  run('tar', ['-xzf', tarball], folder);
  return join(folder, 'package');
}

/** Installs the bundlers and runtimes of package.json, when they are not there. */
export function installTools(): void {
  const require = createRequire(join(HERE, 'package.json'));
  const { dependencies } = require('./package.json') as { dependencies: Record<string, string> };
  const isThere = Object.keys(dependencies).every((name) =>
    existsSync(join(HERE, 'node_modules', name)),
  );
  if (!isThere) run('npm', ['ci', '--no-progress'], HERE);
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`);
}
