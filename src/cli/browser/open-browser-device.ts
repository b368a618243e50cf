import { setTimeout as wait } from 'node:timers/promises';
import { DeviceError } from '../../core/errors.ts';
import { connect, createToken, deriveRelayToken, type Remote } from '../../rpc/index.ts';
import { startRelay } from '../rpc/start-relay.ts';
import { servePackage } from '../serve/serve-package.ts';
import { findBrowser } from './find-browser.ts';
import { startBrowser } from './start-browser.ts';

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
