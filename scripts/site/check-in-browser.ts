import { mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Browser, Page } from 'playwright';
import { serveFolder } from '../../e2e/consumers/serve-folder.ts';
import type { SitePage } from './pages.ts';

/** What a host has to send at least; the demo's pages compile WebAssembly. */
const POLICY = "default-src 'self'";
const COMPILES = `${POLICY}; script-src 'self' 'wasm-unsafe-eval'`;

const WIDTHS = [360, 1600];
const HEIGHT = 900;

export interface BrowserCheck {
  readonly out: string;
  readonly browser: Browser;
  /** A folder for pictures of the pages at both widths. */
  readonly screenshots?: string | undefined;
}

/**
 * Opens every page below a path of a server, at both widths: complaints of the console, and pages that are
 * wider than the window.
 */
export async function checkInBrowser(
  pages: readonly SitePage[],
  { out, browser, screenshots }: BrowserCheck,
): Promise<readonly string[]> {
  // The site lies in a folder of the host, as it may anywhere.
  const server = await serveFolder(dirname(out), (path) => ({
    'content-security-policy': path.includes('/docs/') ? POLICY : COMPILES,
  }));
  const complaints: string[] = [];
  const page = await browser.newPage();
  let path = '';
  page.on('pageerror', ({ message }) => complaints.push(`${path}: ${message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${path}: ${message.text()}`);
  });
  const address = `${server.origin}/${basename(out)}`;
  try {
    for ({ path } of pages) {
      await page.goto(`${address}/${path}`);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: HEIGHT });
        const needed = await page.evaluate(() => document.documentElement.scrollWidth);
        if (needed > width) complaints.push(`${path}: got ${needed} pixels, expected ${width}`);
        if (screenshots !== undefined) await takePicture(page, { path, width, screenshots });
      }
    }
    path = 'docs/index.html';
    await page.goto(`${address}/${path}`);
    complaints.push(...(await checkSearch(page)));
  } finally {
    await page.close();
    await server.close();
  }
  return complaints;
}

interface Picture {
  readonly path: string;
  readonly width: number;
  readonly screenshots: string;
}

async function takePicture(page: Page, { path, width, screenshots }: Picture): Promise<void> {
  const name = path.replace(/^docs\//, '').replaceAll('/', '-');
  mkdirSync(screenshots, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(screenshots, `${name}-${width}-${colorScheme}.png`) });
  }
}

/** The search as a keyboard uses it: a slash, a word, an arrow, Enter. */
async function checkSearch(page: Page): Promise<readonly string[]> {
  await page.keyboard.press('/');
  await page.keyboard.type('snapshot');
  const options = page.getByRole('option');
  await options.first().waitFor();
  const [first, second] = await options
    .locator('a')
    .evaluateAll((links) =>
      links.map((link) => (link instanceof HTMLAnchorElement ? link.href : '')),
    );
  if (second === undefined) return [`search: got ${String(first)} for "snapshot", expected more`];
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(second, { timeout: 5000 }).catch(() => undefined);
  return page.url() === second ? [] : [`search: Enter led to ${page.url()}, not to ${second}`];
}
