import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserName } from '../../../scripts/open-pages.ts';
import type { Count } from './engine-result.ts';

interface PlaywrightReport {
  readonly stats: {
    readonly expected: number;
    readonly unexpected: number;
    readonly flaky: number;
  };
  readonly errors: readonly { readonly message?: string }[];
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = join(root, '.weft-cache/engines');

/** Runs the browser tests in one browser; what fails is told on standard output as well. */
export async function runBrowserTests(browserName: BrowserName): Promise<Count> {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `browser-tests-${browserName}.json`);
  rmSync(file, { force: true });
  const child = spawn('playwright', ['test', `--project=${browserName}`, '--reporter=dot,json'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, WEFT_E2E: browserName, PLAYWRIGHT_JSON_OUTPUT_NAME: file },
    shell: process.platform === 'win32',
  });
  await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', resolve);
  });
  const { stats, errors } = JSON.parse(readFileSync(file, 'utf8')) as PlaywrightReport;
  const failures = errors.map(({ message = 'an error' }) => message);
  if (stats.unexpected > 0) failures.push(`${stats.unexpected} browser tests; see above`);
  const passed = stats.expected + stats.flaky;
  return { passed, total: passed + stats.unexpected + errors.length, failures };
}
