import { mkdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Browser, Page } from 'playwright';
import { serveFolder } from '../../e2e/consumers/serve-folder.ts';
import type { SitePage } from './pages.ts';

/** The least policy that a host has to send. The demo's pages also compile WebAssembly. */
const POLICY = "default-src 'self'";
const COMPILES = `${POLICY}; script-src 'self' 'wasm-unsafe-eval'`;

const WIDTHS = [360, 1600];
const HEIGHT = 900;
/** Pages of symbols that are opened, of the longest and of those with the longest names. */
const SYMBOLS = 12;
/** The compiler, a worker and a device load first. */
const RUN_MS = 60_000;

interface BrowserCheck {
  readonly out: string;
  readonly browser: Browser;
  /** A folder for pictures of the pages at both widths. */
  readonly screenshots?: string | undefined;
}

/** Pages of the reference are made alike: of each kind those with the longest names and texts tell. */
function telling(pages: readonly SitePage[], out: string): readonly SitePage[] {
  const size = ({ path }: SitePage): number => statSync(join(out, path)).size;
  const isSymbol = ({ path }: SitePage): boolean => /^docs\/api\/.*\.[A-Z]/.test(path);
  const symbols = pages.filter(isSymbol);
  const longest = symbols.toSorted((a, b) => size(b) - size(a)).slice(0, SYMBOLS);
  const named = symbols.toSorted((a, b) => b.path.length - a.path.length).slice(0, SYMBOLS);
  return [...pages.filter((page) => !isSymbol(page)), ...new Set([...longest, ...named])];
}

/**
 * Opens every page below a path of a server, of the reference some, at both widths: complaints of the console, and pages that are
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
    for ({ path } of telling(pages, out)) {
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
    complaints.push(...(await checkTheme(page)), ...(await checkSearch(page)));
    path = 'playground.html';
    complaints.push(...(await checkPlayground(page, { address, screenshots })));
  } finally {
    await page.close();
    await server.close();
  }
  return complaints;
}

/** Far more than a busy machine takes to read the demo's picture. */
const FIRST_RESULT_MS = 120_000;

/** What the README shows: the demo as it opens, once its first result is there. */
export async function pictureOfDemo({ out, browser }: BrowserCheck, to: string): Promise<void> {
  const server = await serveFolder(dirname(out), () => ({ 'content-security-policy': COMPILES }));
  const page = await browser.newPage({ viewport: { width: 1120, height: 720 } });
  try {
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await page.goto(`${server.origin}/${basename(out)}/index.html`);
    await page.locator('#picture-text li').first().waitFor({ timeout: FIRST_RESULT_MS });
    await page.screenshot({ path: to, type: 'jpeg', quality: 50 });
  } finally {
    await page.close();
    await server.close();
  }
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

interface PlaygroundCheck {
  /** Of the site. */
  readonly address: string;
  readonly screenshots: string | undefined;
}

/** The playground: the first example runs by itself, an error is shown, a link brings a program. */
async function checkPlayground(
  page: Page,
  { address, screenshots }: PlaygroundCheck,
): Promise<readonly string[]> {
  const complaints: string[] = [];
  const expectText = async (selector: string, text: string): Promise<void> => {
    const place = page.locator(selector);
    await place
      .filter({ hasText: text })
      .waitFor({ timeout: RUN_MS })
      .catch(async () => {
        complaints.push(`playground: got ${await place.innerText()}, expected ${text}`);
      });
  };
  await page.goto(`${address}/playground.html`);
  await expectText('#result', 'float32[2, 3] [[1.5,4,0],[0,2,1]]');
  await expectText('#bytecode', 'main');
  await expectText('#passes', 'fuse');
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    const needed = await page.evaluate(() => document.documentElement.scrollWidth);
    if (needed > width) complaints.push(`playground: got ${needed} pixels, expected ${width}`);
    if (screenshots !== undefined) {
      await takePicture(page, { path: 'playground.html', width, screenshots });
    }
  }
  await page.locator('#example').selectOption('Recursion');
  await expectText('#result', '[1024,2048,3072]');
  await page.locator('#share').click();
  await page.locator('#status', { hasText: 'link' }).waitFor();
  const link = page.url();
  await page.getByRole('textbox', { name: 'Program' }).click();
  // At the end: of text that is typed over, Chromium keeps the colours by a style that the policy refuses.
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.type('def @main(');
  await page.keyboard.press('ControlOrMeta+Enter');
  await expectText('#result.wrong', 'expected');
  await page.goto('about:blank');
  await page.goto(link);
  await page.locator('#run:enabled').click();
  await expectText('#result', '[1024,2048,3072]');
  await page.goto(`${address}/docs/ir.html`);
  await page.getByRole('link', { name: 'Open in the playground' }).first().click();
  await page.locator('#run:enabled').click();
  await expectText('#result', '[[1.5,4,0]]');
  return complaints;
}

/** The switch turns the colours around, and the next page has what was chosen. */
async function checkTheme(page: Page): Promise<readonly string[]> {
  const colour = (): Promise<string> =>
    page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.reload();
  const light = await colour();
  await page.locator('#theme').click();
  const dark = await colour();
  await page.reload();
  const again = await colour();
  await page.locator('#theme').click();
  const isGood = light !== dark && again === dark && (await colour()) === light;
  return isGood ? [] : [`theme: got ${light}, ${dark}, and ${again} after a reload`];
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
