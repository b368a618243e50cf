import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from '@playwright/test';
import { findChromium } from './scripts/find-chromium.mjs';
import { firefoxLaunchOptions, missingFirefox } from './scripts/find-firefox.mjs';

// The tests run against a production build, served under the content security policy that
// vite.config.ts states. `--mode e2e` builds index.html and every e2e/pages/*.html, so a test
// page e2e/pages/session.html (with its script beside it) is opened by
// `page.goto('/e2e/pages/session.html')`. Import `test` from e2e/fixtures.ts: it fails a test whose
// page breaks the policy, throws, or asks another origin for anything.
// Under the policy `page.waitForFunction` counts as eval; poll with `expect.poll` and `evaluate`.
//
// The environment chooses what runs:
//   WEFT_E2E=chromium  all files in Chromium, the default
//   WEFT_E2E=firefox   all files in Firefox; WEFT_PART=3 a third of them, chosen by WEFT_SEED, which is
//                      the day of the year by default: three days in a row take every file
//   WEFT_E2E=both      in both browsers
//   WEFT_E2E=smoke     the pages of the site alone, built alone, in Chromium: `playwright test smoke`
//   WEFT_E2E_LONG=1    tests that say `@long`, too
//   WEFT_E2E_PORT=4180 where the build is served, 4179 by default: two runs need two ports
//
// Nothing is tried twice, and no limit says how fast a machine is: a limit ends a test that hangs.

const BROWSERS = ['chromium', 'firefox', 'both', 'smoke'];

const { WEFT_E2E: asked = 'chromium', WEFT_E2E_LONG: isLong = '' } = process.env;
const port = numberFrom('WEFT_E2E_PORT', 4179);
if (!BROWSERS.includes(asked)) {
  throw new Error(`WEFT_E2E: got ${asked}, expected one of ${BROWSERS.join(', ')}.`);
}
const runsFirefox = asked === 'firefox' || asked === 'both';
const missing = runsFirefox ? missingFirefox() : undefined;
if (missing !== undefined) throw new Error(`WEFT_E2E=${asked}: ${missing}.`);

const executablePath = findChromium();
const blank = asked === 'smoke' ? 'index.html' : 'e2e/pages/blank.html';
const mode = asked === 'smoke' ? '' : '--mode e2e';

export default defineConfig({
  testDir: 'e2e',
  outputDir: 'test-results',
  fullyParallel: false,
  // Files; a test keeps about one core busy.
  workers: 2,
  forbidOnly: process.env.CI !== undefined,
  timeout: 240_000,
  expect: { timeout: 120_000 },
  ...(['', '0'].includes(isLong) && { grepInvert: /@long/ }),
  reporter: process.env.PLAYWRIGHT_JSON_OUTPUT_NAME === undefined ? 'list' : [['list'], ['json']],
  use: {
    baseURL: `http://localhost:${port}`,
  },
  projects: [
    ...(asked === 'firefox'
      ? []
      : [
          {
            name: 'chromium',
            use: {
              browserName: 'chromium' as const,
              launchOptions: {
                ...(executablePath === undefined ? {} : { executablePath }),
                args: [
                  '--enable-unsafe-webgpu',
                  '--use-webgpu-adapter=swiftshader',
                  '--no-sandbox',
                  '--disable-quic',
                  '--no-first-run',
                  '--disable-background-networking',
                  '--disable-component-update',
                  '--disable-sync',
                ],
              },
            },
          },
        ]),
    ...(runsFirefox
      ? [
          {
            name: 'firefox',
            testMatch: filesForFirefox(),
            use: { browserName: 'firefox' as const, launchOptions: firefoxLaunchOptions() },
          },
        ]
      : []),
  ],
  webServer: {
    command: `vite build ${mode} --logLevel warn && vite preview ${mode} --port ${port} --strictPort`,
    url: `http://localhost:${port}/${blank}`,
    reuseExistingServer: false,
    timeout: 240_000,
    stdout: 'ignore',
    stderr: 'pipe',
  },
});

/** All files, or with WEFT_PART=n each n-th, from the one on that the seed says. */
function filesForFirefox(): string[] {
  const all = readdirSync(fileURLToPath(new URL('e2e', import.meta.url)))
    .filter((name) => name.endsWith('.spec.ts'))
    .toSorted();
  const part = numberFrom('WEFT_PART', 1);
  const seed = numberFrom('WEFT_SEED', dayOfYear());
  const files = all.filter((_, i) => i % part === seed % part);
  // Workers read this file, too.
  if (part > 1 && process.env['TEST_WORKER_INDEX'] === undefined) {
    const again = `WEFT_E2E=${asked} WEFT_PART=${part} WEFT_SEED=${seed}`;
    console.log(`Firefox: ${files.length} of ${all.length} files: ${files.join(' ')}`);
    console.log(`Again: ${again} npm run e2e`);
  }
  return files.map((name) => `**/${name}`);
}

function numberFrom(name: `WEFT_${'E2E_PORT' | 'PART' | 'SEED'}`, otherwise: number): number {
  const text = process.env[name] ?? '';
  const value = text === '' ? otherwise : Number(text);
  const least = name === 'WEFT_SEED' ? 0 : 1;
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new Error(`${name}: got ${text}, expected an integer of at least ${least}.`);
}

function dayOfYear(): number {
  const now = new Date();
  return Math.floor((now.getTime() - Date.UTC(now.getUTCFullYear(), 0, 0)) / 86_400_000);
}
