import { setTimeout as wait } from 'node:timers/promises';
import { DeviceError } from '../../core/errors.ts';
import { connect, createToken, deriveRelayToken, type Remote } from '../../rpc/index.ts';
import { startRelay } from '../rpc/start-relay.ts';
import { servePackage } from '../serve/serve-package.ts';
import { findBrowser } from './find-browser.ts';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A browser without a window, with a profile of its own. */
interface StartedBrowser {
  /** Rejects with DeviceError once the browser ends by itself. */
  readonly ended: Promise<never>;
  close(): Promise<void>;
}

/** Nothing of the machine's own browser is touched, and nothing is asked of the network. */
const FLAGS = [
  '--headless=new',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-extensions',
  // On Linux WebGPU is not there without it.
  '--enable-unsafe-webgpu',
  ...(process.platform === 'linux' ? ['--enable-features=Vulkan'] : []),
];

/** Lines of standard error that an error tells. */
const TOLD_LINES = 3;

/**
 * Opens an address. The address may hold a secret: it stands in a file that only this user reads, not among the
 * arguments, which everybody on the machine can see. More arguments are in the variable WEFT_BROWSER_ARGS.
 */
async function startBrowser(path: string, address: string): Promise<StartedBrowser> {
  const folder = await mkdtemp(join(tmpdir(), 'weft-browser-'));
  const page = join(folder, 'start.html');
  await writeFile(page, redirect(address), { mode: 0o600 });
  const more = (process.env['WEFT_BROWSER_ARGS'] ?? '').split(' ').filter((word) => word !== '');
  const args = [...FLAGS, `--user-data-dir=${join(folder, 'profile')}`, ...more];
  const browser = spawn(path, [...args, pathToFileURL(page).href], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // A group of its own, so that its helpers end with it.
    detached: process.platform !== 'win32',
  });
  const ended = untilEnded(browser, path);
  // Whoever waits for the browser gets the error; others do not mind.
  ended.catch(() => undefined);
  return {
    ended,
    async close() {
      const gone = new Promise((resolve) => browser.once('close', resolve));
      if (browser.exitCode === null && browser.signalCode === null && browser.pid !== undefined) {
        endGroup(browser, browser.pid);
        await gone;
      }
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

function redirect(address: string): string {
  const target = JSON.stringify(address).replaceAll('<', String.raw`\u003c`);
  return `<!doctype html><meta charset="utf-8"><script>location.replace(${target});</script>\n`;
}

function endGroup(browser: ChildProcess, pid: number): void {
  try {
    if (process.platform === 'win32') browser.kill();
    else process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended meanwhile.
  }
}

async function untilEnded(browser: ChildProcess, path: string): Promise<never> {
  let said = '';
  browser.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-4000);
  });
  const reason = await new Promise<string>((resolve) => {
    browser.once('error', (error) => resolve(error.message));
    browser.once('close', (code, signal) => resolve(`it ended with ${signal ?? `status ${code}`}`));
  });
  const last = said.trim().split('\n').slice(-TOLD_LINES).join('; ');
  throw new DeviceError({
    where: `the browser ${path}`,
    got: `${reason}${last === '' ? '' : `: ${last}`}`,
    expected: 'a browser that stays',
    remedy:
      'Arguments for it may stand in the variable WEFT_BROWSER_ARGS; as root Chromium needs --no-sandbox.',
  });
}

/** The devices of a browser that was started for this command. */
export interface BrowserDevice {
  /** For `remote` of `Session.load`. */
  readonly remote: Remote;
  /** The best of the browser's devices. */
  readonly kind: 'webgpu' | 'wasm';
  close(): Promise<void>;
}

const KEY = 'browser';
/** Until the page must have opened its devices. */
const READY_MS = 60_000;
const POLL_MS = 20;

/**
 * Starts a headless browser with a page that serves its devices to this process, over loopback and with a token of this
 * one command. Throws DeviceError where there is no browser, or none that opens the page.
 */
export async function openBrowserDevice(): Promise<BrowserDevice> {
  const path = findBrowser();
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of closing.splice(0).toReversed()) await end();
  };
  try {
    const token = createToken();
    const relay = await startRelay({ port: 0, relayToken: await deriveRelayToken(token) });
    closing.push(() => relay.close());
    const page = await servePackage({ own: PAGE_FILES, policy: policyFor(relay.url), port: 0 });
    closing.push(() => page.close());
    const secret = encodeURIComponent(JSON.stringify({ relay: relay.url, key: KEY, token }));
    const browser = await startBrowser(path, `${page.url}#${secret}`);
    closing.push(() => browser.close());
    const isReady = async (): Promise<void> => {
      for (let waited = 0; relay.counters().waiting === 0; waited += POLL_MS) {
        if (waited > READY_MS) throw notReady(path);
        await wait(POLL_MS);
      }
    };
    await Promise.race([isReady(), browser.ended]);
    const remote = await connect(relay.url, { token, key: KEY, name: 'weft' });
    closing.push(async () => remote.close());
    const kind = remote.devices.some((device) => device.kind === 'webgpu') ? 'webgpu' : 'wasm';
    return { remote, kind, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function notReady(path: string): DeviceError {
  return new DeviceError({
    where: `the browser ${path}`,
    got: `no page that serves its devices within ${READY_MS / 1000} s`,
    expected: 'a browser that opens a page of this machine',
    remedy: 'Try another one by the variable WEFT_BROWSER.',
  });
}

const policyFor = (relay: string): string =>
  `default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' ${relay.replace(/\/$/, '')}; frame-ancestors 'none'`;

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Devices for weft</title>
    <script type="module" src="/devices.js"></script>
  </head>
  <body></body>
</html>
`;

/** Serves what this browser has; why it lacks WebGPU is in the name. */
const SCRIPT = `import { serveRelay } from '/files/rpc.js';
import { createDevice } from '/files/worker.js';

const { relay, key, token } = JSON.parse(decodeURIComponent(location.hash.slice(1)));
history.replaceState(null, '', '/');
const devices = [];
const reasons = [];
for (const kind of ['webgpu', 'wasm', 'host']) {
  try {
    devices.push(await createDevice(kind));
  } catch (error) {
    reasons.push(error.message);
  }
}
const version = /(?:Headless)?(\\w+)\\/[\\d.]+(?= Safari| Mobile|$)/.exec(navigator.userAgent)?.[0] ?? 'a browser';
const name = [version, ...reasons].join(': ').slice(0, 300);
await serveRelay(relay, { key, token, devices, name, maxConnections: 1 }).ended;
`;

const PAGE_FILES = {
  '/': { type: 'text/html; charset=utf-8', body: PAGE },
  '/devices.js': { type: 'text/javascript', body: SCRIPT },
} as const;
