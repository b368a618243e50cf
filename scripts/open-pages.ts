import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, firefox, type Page } from 'playwright';
import { build, type Plugin, preview } from 'vite';
import { firefoxLaunchOptions, missingFirefox } from './find-firefox.mjs';
import { launchChromium } from './launch-chromium.ts';

export type BrowserName = 'chromium' | 'firefox';

interface PagesOptions {
  readonly plugins?: readonly Plugin[];
  /** Default `chromium`. */
  readonly browserName?: BrowserName;
  /** The pages to build, such as `rpc.html`. Default: all, which takes two to six times as long as one. */
  readonly only?: readonly string[];
  /** Starts another browser than that of the tests. */
  readonly launch?: () => Promise<Browser>;
}

export interface Pages {
  readonly browser: Browser;
  /** The address of the demo, on loopback. */
  readonly address: string;
  /** Opens a page of this repository, such as `rpc.html#…`, when it says that it is ready. */
  open(path: string): Promise<Page>;
  close(): Promise<void>;
}

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * The pages of this repository as they ship, on a server on loopback under the policy of
 * vite.config.ts, and a headless browser that opens them. They are built first: a development server
 * bundles packages when pages ask for them, and then loads pages and workers again.
 */
export async function openPages({
  browserName = 'chromium',
  launch = () => launchTested(browserName),
  ...options
}: PagesOptions = {}): Promise<Pages> {
  const { address, close } = await servePages(options);
  const browser = await launch();
  return {
    browser,
    address,
    async open(path) {
      const page = await browser.newPage();
      page.on('pageerror', (error) => console.error(`page: ${error.message}`));
      await page.goto(`${address}${path}`);
      await page.waitForSelector('html[data-ready]', { state: 'attached' });
      return page;
    },
    async close() {
      await browser.close();
      await close();
    },
  };
}

/** The pages alone, for another browser. */
export async function servePages({
  plugins = [],
  only,
}: Pick<PagesOptions, 'plugins' | 'only'> = {}): Promise<Pick<Pages, 'address' | 'close'>> {
  mkdirSync(join(root, '.weft-cache'), { recursive: true });
  const outDir = mkdtempSync(join(root, '.weft-cache/pages-'));
  process.once('exit', () => rmSync(outDir, { recursive: true, force: true }));
  const settings = { root, mode: 'e2e', logLevel: 'error' } as const;
  const chosen = only === undefined ? [] : [choosePages(only)];
  await build({ ...settings, plugins: chosen, build: { outDir } });
  const server = await preview({
    ...settings,
    build: { outDir },
    preview: { host: '127.0.0.1', port: 0 },
    plugins: [...plugins],
  });
  const origin = server.resolvedUrls?.local[0];
  if (origin === undefined) throw new Error('The server for the pages has no address.');
  return { address: origin, close: () => server.close() };
}

/** An option would add to the pages of vite.config.ts. */
function choosePages(pages: readonly string[]): Plugin {
  return {
    name: 'weft:choose-pages',
    config({ build }) {
      if (build?.rolldownOptions === undefined) throw new Error('internal: no pages to build');
      build.rolldownOptions.input = pages.map((page) => join(root, page));
    },
  };
}

async function launchTested(browserName: BrowserName): Promise<Browser> {
  if (browserName === 'firefox') {
    const missing = missingFirefox();
    if (missing !== undefined) throw new Error(`No tests in Firefox: ${missing}.`);
    return firefox.launch(firefoxLaunchOptions());
  }
  return launchChromium();
}
