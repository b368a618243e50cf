import { defineConfig } from '@playwright/test';
import { findChromium } from './scripts/find-chromium.mjs';
import { firefoxLaunchOptions, missingFirefox } from './scripts/find-firefox.mjs';

// The tests run against a production build, served under the content security policy that
// vite.config.ts states. `--mode e2e` builds index.html and every e2e/pages/*.html, so a test
// page e2e/pages/session.html (with its script beside it) is opened by
// `page.goto('/e2e/pages/session.html')`. Import `test` from e2e/fixtures.ts: it fails a test whose
// page breaks the policy, throws, or asks another origin for anything.
// Under the policy `page.waitForFunction` counts as eval; poll with `expect.poll` and `evaluate`.

const PORT = 4179;
const executablePath = findChromium();

export default defineConfig({
  testDir: 'e2e',
  outputDir: 'test-results',
  fullyParallel: false,
  // Files, in one browser or in both; a test keeps about one core busy.
  workers: 2,
  // What fails is tried a second time, as unit tests are, and `npm test` names it at its end.
  retries: 1,
  forbidOnly: process.env.CI !== undefined,
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: process.env.PLAYWRIGHT_JSON_OUTPUT_NAME === undefined ? 'list' : [['list'], ['json']],
  use: {
    baseURL: `http://localhost:${PORT}`,
  },
  projects: [
    {
      name: 'chromium',
      use: {
        browserName: 'chromium',
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
    // `npm test` says so where there is no Firefox.
    ...(missingFirefox() !== undefined
      ? []
      : [
          {
            name: 'firefox',
            use: { browserName: 'firefox' as const, launchOptions: firefoxLaunchOptions() },
          },
        ]),
  ],
  webServer: {
    command: `vite build --mode e2e --logLevel warn && vite preview --mode e2e --port ${PORT} --strictPort`,
    url: `http://localhost:${PORT}/e2e/pages/blank.html`,
    reuseExistingServer: false,
    timeout: 120_000,
    stdout: 'ignore',
    stderr: 'pipe',
  },
});
