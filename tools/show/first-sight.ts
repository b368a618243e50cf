import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright';
import { missingFirefox } from '../../scripts/find-firefox.mjs';
import { missingWebkit } from '../../scripts/find-webkit.mjs';
import { type BrowserName, openPages, type Pages, servePages } from '../../scripts/open-pages.ts';
import { openWebkit } from '../../scripts/webkit/open-webkit.ts';
import { Checks } from './checks.ts';

const TICKET = ['Night Train 27', 'Glasgow to London', 'Coach B, seat 14', 'GBP 42.50'];
const FIRST_MS = 3000;
const AGAIN_MS = 1500;
const OPENINGS = 5;
const WIDTHS = [360, 768, 1280, 1600];
const FOLDER = fileURLToPath(new URL('../../.weft-cache/first-sight/', import.meta.url));

/** What the page says of itself, and when its first result was there. */
interface Sight {
  readonly ms: number;
  readonly lines: readonly string[];
  readonly bytes: string;
  readonly device: string;
}

/**
 * `npm run show -- first-sight [--untimed]`: opens the demo as a stranger does, first and again, in Chromium, Firefox and WebKit: what it
 * reads, the time from the opening to the first result, the bytes, and pictures below .weft-cache/first-sight/. Times hold for one
 * idle core and software adapters: on a busy machine `--untimed` only tells them.
 */
export async function main(words: readonly string[] = []): Promise<number> {
  if (words.some((word) => word !== '--untimed')) {
    console.error('usage: npm run show -- first-sight [--untimed]');
    return 2;
  }
  mkdirSync(FOLDER, { recursive: true });
  const checks = new Checks();
  const isTimed = !words.includes('--untimed');
  for (const name of ['chromium', 'firefox'] as const) {
    checks.section(name);
    const missing = name === 'firefox' ? missingFirefox() : undefined;
    if (missing !== undefined) checks.note(`left out: ${missing}`);
    else await showIn(name, { checks, isTimed });
  }
  checks.section('webkit');
  const missing = missingWebkit();
  if (missing === undefined) await showInWebkit(checks);
  else checks.note(`left out: ${missing}`);
  console.log(`\nPictures: ${FOLDER}`);
  return checks.end();
}

interface ShowOptions {
  readonly checks: Checks;
  readonly isTimed: boolean;
}

async function showIn(browserName: BrowserName, { checks, isTimed }: ShowOptions): Promise<void> {
  const pages = await openPages({ browserName, only: ['index.html'] });
  try {
    const first: Sight[] = [];
    const again: Sight[] = [];
    for (let opening = 0; opening < OPENINGS; opening++) {
      const context = await pages.browser.newContext();
      first.push(await sightOf(context, pages));
      again.push(await sightOf(context, pages));
      await context.close();
    }
    report(checks, {
      title: 'first opening',
      sights: first,
      mostMs: isTimed ? FIRST_MS : Infinity,
    });
    report(checks, { title: 'again', sights: again, mostMs: isTimed ? AGAIN_MS : Infinity });
    await takePictures(pages.browser, pages.address, browserName);
  } finally {
    await pages.close();
  }
}

async function sightOf(context: BrowserContext, { address }: Pages): Promise<Sight> {
  const page = await context.newPage();
  try {
    return await openAndRead(page, address);
  } finally {
    await page.close();
  }
}

/** A script of the page notes when the first line was there: what asks from outside comes later. */
async function openAndRead(page: Page, address: string): Promise<Sight> {
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (document.querySelector('#picture-text li') === null) return;
      observer.disconnect();
      performance.mark('first-sight');
    }).observe(document, { childList: true, subtree: true });
  });
  await page.goto(address);
  await page.locator('#number-device small').waitFor({ timeout: 120_000 });
  await page.locator('#number-bytes small').waitFor();
  return page.evaluate(() => {
    const textOf = (id: string): string => document.getElementById(id)?.textContent ?? '';
    return {
      ms: performance.getEntriesByName('first-sight')[0]?.startTime ?? Number.NaN,
      lines: [...document.querySelectorAll('#picture-text li')].map((line) => line.textContent),
      bytes: textOf('number-bytes'),
      device: textOf('number-device'),
    };
  });
}

interface ReportOptions {
  readonly title: string;
  readonly sights: readonly Sight[];
  readonly mostMs: number;
}

function report(checks: Checks, { title, sights, mostMs }: ReportOptions): void {
  const isRight = sights.every(({ lines }) => lines.join('\n') === TICKET.join('\n'));
  checks.check(isRight, `${title}: ${sights[0]?.lines.join(' · ') ?? 'nothing'}`);
  const times = sights.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const median = times[Math.floor(times.length / 2)] ?? Number.NaN;
  const each = times.map((ms) => (ms / 1000).toFixed(2)).join(', ');
  const limit = Number.isFinite(mostMs) ? ` of ${mostMs / 1000}` : '';
  checks.check(median <= mostMs, `${title}: ${(median / 1000).toFixed(2)} s${limit} (${each})`);
  checks.note(`fetched ${sights[0]?.bytes ?? ''}; runs on ${sights[0]?.device ?? ''}`);
}

async function takePictures(browser: Browser, address: string, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ colorScheme });
    const page = await context.newPage();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: width < 600 ? 740 : 900 });
      await openAndRead(page, address);
      await page.screenshot({ path: `${FOLDER}${name}-${width}-${colorScheme}.png` });
    }
    await context.close();
  }
}

/** Its window has one size. */
async function showInWebkit(checks: Checks): Promise<void> {
  const { address, close } = await servePages({ only: ['index.html'] });
  const page = await openWebkit();
  try {
    await page.open(address, "document.querySelector('#picture-text li') !== null");
    const lines = await page.evaluate<string[]>(
      "return [...document.querySelectorAll('#picture-text li')].map((line) => line.textContent);",
    );
    checks.check(lines.join('\n') === TICKET.join('\n'), `it reads ${lines.join(' · ')}`);
    const time = await page.evaluate<string>(
      "return document.querySelector('#number-time').textContent;",
    );
    checks.note(time);
    writeFileSync(`${FOLDER}webkit.png`, await page.screenshot());
  } finally {
    await page.close();
    await close();
  }
}
