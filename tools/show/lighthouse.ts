import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build, type Connect, type Plugin, preview } from 'vite';
import { findChromium } from '../../scripts/find-chromium.mjs';
import { Checks } from './checks.ts';
import { installPackages } from '../../scripts/install-packages.ts';

const RUNS = 3;
const LEAST_SCORE = 95;
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'];
const FOLDER = fileURLToPath(new URL('lighthouse', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FLAGS = [
  '--headless=new',
  '--no-sandbox',
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  '--disable-background-networking',
];

interface Audit {
  readonly id: string;
  readonly title: string;
  readonly score: number | null;
  readonly displayValue?: string;
}

/** The part of Lighthouse's report that is read here. */
interface Report {
  readonly categories: Readonly<
    Record<
      string,
      { readonly score: number; readonly auditRefs: readonly { id: string; weight: number }[] }
    >
  >;
  readonly audits: Readonly<Record<string, Audit>>;
}

/**
 * `npm run show -- lighthouse [PAGE …]`: audits the demo, or the pages named, with Lighthouse's mobile preset in headless Chromium,
 * three times, and says what costs points. Resolves to 0 only when the median of each category is at least 95.
 */
export async function main(words: readonly string[]): Promise<number> {
  installPackages(FOLDER, 'lighthouse');
  await build({ root: ROOT, logLevel: 'warn' });
  const server = await preview({
    root: ROOT,
    logLevel: 'error',
    preview: { port: 0 },
    plugins: [await compressed()],
  });
  const [address = ''] = server.resolvedUrls?.local ?? [];
  const checks = new Checks();
  try {
    for (const path of words.length === 0 ? [''] : words) {
      checks.section(`/${path}`);
      const reports: Report[] = [];
      for (let run = 0; run < RUNS; run++) reports.push(await audit(new URL(path, address).href));
      for (const category of CATEGORIES) reportCategory(checks, reports, category);
    }
  } finally {
    await server.close();
  }
  return checks.end();
}

/** Hosts compress what they send. */
async function compressed(): Promise<Plugin> {
  const path = new URL('lighthouse/node_modules/compression/index.js', import.meta.url).href;
  const { default: compression } = (await import(path)) as {
    readonly default: () => Connect.NextHandleFunction;
  };
  return {
    name: 'weft:compression',
    configurePreviewServer: ({ middlewares }) => void middlewares.use(compression()),
  };
}

async function audit(url: string): Promise<Report> {
  const command = fileURLToPath(
    new URL('lighthouse/node_modules/lighthouse/cli/index.js', import.meta.url),
  );
  const only = `--only-categories=${CATEGORIES.join(',')}`;
  const args = [
    command,
    url,
    '--quiet',
    '--output=json',
    only,
    `--chrome-flags=${FLAGS.join(' ')}`,
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, CHROME_PATH: findChromium() },
    maxBuffer: 2 ** 27,
  });
  return JSON.parse(stdout) as Report;
}

function reportCategory(checks: Checks, reports: readonly Report[], category: string): void {
  const sorted = reports.toSorted((a, b) => scoreOf(a, category) - scoreOf(b, category));
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error('no reports');
  const scores = reports.map((report) => scoreOf(report, category).toFixed(0)).join(', ');
  const score = scoreOf(middle, category);
  checks.check(
    score >= LEAST_SCORE,
    `${category}: ${score.toFixed(0)} of ${LEAST_SCORE} (${scores})`,
  );
  for (const { id, weight } of middle.categories[category]?.auditRefs ?? []) {
    const {
      title,
      score: own,
      displayValue = '',
    } = middle.audits[id] ?? { title: id, score: null };
    if (weight > 0 && own !== null && own < 1) {
      checks.note(`${(100 * own).toFixed(0).padStart(3)}  ${title} ${displayValue}`);
    }
  }
}

const scoreOf = ({ categories }: Report, name: string): number =>
  100 * (categories[name]?.score ?? Number.NaN);
