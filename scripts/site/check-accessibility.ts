import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type Axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright';
import { serveFolder } from '../../e2e/consumers/serve-folder.ts';

/** A page of each kind: the start, a guide with programs, the reference, tables of numbers. */
const PAGES = [
  'docs/index.html',
  'docs/start.html',
  'docs/api/weft-vm.tasks.html',
  'docs/api/weft-vm.Class.Session.html',
  'docs/performance.html',
];
const WIDTHS = [360, 1600];
/** The scheme changes nothing but colours. */
const SCHEMES: readonly (readonly [
  scheme: 'light' | 'dark',
  rules: readonly string[] | undefined,
])[] = [
  ['light', undefined],
  ['dark', ['color-contrast', 'link-in-text-block']],
];
const POLICY = "default-src 'self'";

interface AccessibilityCheck {
  /** The folder of the site. */
  readonly out: string;
  /** By their names. */
  readonly browsers: Readonly<Record<string, Browser>>;
}

/** Runs axe-core over a page of each kind, in each browser, at both widths, light and dark. One complaint for each finding. */
export async function checkAccessibility({
  out,
  browsers,
}: AccessibilityCheck): Promise<readonly string[]> {
  const axe = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');
  const server = await serveFolder(dirname(out), () => ({ 'content-security-policy': POLICY }));
  const address = `${server.origin}/${basename(out)}`;
  try {
    const found: string[] = [];
    for (const [name, browser] of Object.entries(browsers)) {
      const context = await browser.newContext({ reducedMotion: 'reduce' });
      const complaints = await inContext(context, { address, axe });
      found.push(...complaints.map((complaint) => `${name}: ${complaint}`));
      await context.close();
    }
    return found;
  } finally {
    await server.close();
  }
}

async function inContext(
  context: BrowserContext,
  { address, axe }: { readonly address: string; readonly axe: string },
): Promise<readonly string[]> {
  const page = await context.newPage();
  const complaints: string[] = [];
  for (const path of PAGES) {
    await page.goto(`${address}/${path}`);
    await page.evaluate(axe);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      for (const [colorScheme, rules] of SCHEMES) {
        await page.emulateMedia({ colorScheme });
        const where = `${path} at ${width} pixels, ${colorScheme}`;
        complaints.push(...(await violationsOf(page, rules)).map((found) => `${where}: ${found}`));
      }
    }
  }
  return complaints;
}

const SHOWN_NODES = 3;

async function violationsOf(
  page: Page,
  rules: readonly string[] | undefined,
): Promise<readonly string[]> {
  const violations = await page.evaluate(async (only) => {
    const { axe } = globalThis as unknown as { axe: typeof Axe };
    const found = await axe.run({
      resultTypes: ['violations'],
      ...(only && { runOnly: [...only] }),
    });
    return found.violations.map(({ id, nodes }) => ({ id, html: nodes.map((node) => node.html) }));
  }, rules);
  return violations.map(({ id, html }) => {
    const more = html.length > SHOWN_NODES ? ` and ${html.length - SHOWN_NODES} more` : '';
    return `${id}, ${html.slice(0, SHOWN_NODES).join(' ')}${more}`;
  });
}
