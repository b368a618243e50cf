import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright';
import { createServer, type Plugin } from 'vite';
import { findChromium } from './find-chromium.mjs';

/** Without the first flag there is no adapter in headless Chromium. */
const CHROMIUM_FLAGS = [
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  '--no-sandbox',
];

/** What pages import that is no ES module: bundled before they ask, which would load them again. */
const BUNDLED = [
  '@msgpack/msgpack',
  '@nats-io/nats-core',
  '@nats-io/obj',
  '@nats-io/services',
  '@noble/hashes/sha2.js',
  'uqr',
];

export interface Pages {
  readonly browser: Browser;
  /** Opens a page of this repository, such as `rpc.html#…`, when it says that it is ready. */
  open(path: string): Promise<Page>;
  close(): Promise<void>;
}

/** A server on loopback for the pages of this repository, and a headless Chromium that opens them. */
export async function openPages(plugins: Plugin[] = []): Promise<Pages> {
  const server = await createServer({
    root: fileURLToPath(new URL('..', import.meta.url)),
    configFile: false,
    logLevel: 'error',
    worker: { format: 'es' },
    optimizeDeps: { include: BUNDLED },
    server: { host: '127.0.0.1', port: 0, hmr: false, watch: null },
    plugins,
  });
  await server.listen();
  const executablePath = findChromium();
  const browser = await chromium.launch({
    args: CHROMIUM_FLAGS,
    ...(executablePath === undefined ? {} : { executablePath }),
  });
  const origin = server.resolvedUrls?.local[0];
  if (origin === undefined) throw new Error('The server for the pages has no address.');
  return {
    browser,
    async open(path) {
      const page = await browser.newPage();
      page.on('pageerror', (error) => console.error(`page: ${error.message}`));
      await page.goto(`${origin}${path}`);
      await page.waitForSelector('html[data-ready]', { state: 'attached' });
      return page;
    },
    async close() {
      await browser.close();
      await server.close();
    },
  };
}
