import { spawn, spawnSync } from 'node:child_process';
import { basename, join } from 'node:path';
import { clearReports, playwrightReport, vitestReport } from '../../scripts/test/reports.mjs';
import { isBrowserTest } from './browser-tests.ts';
import type { Tier } from './reaching-tests.ts';

/** A run that finishes no test for so long hangs; a browser test alone may take minutes to fail. */
const SILENT_MS = { test: 120_000, all: 600_000, browser: 600_000 };
/** Where pages are served, beside browser tests of the repository. */
const PORT = '4189';

interface Failure {
  /** Undefined for a run that hangs or crashes, and for an error outside of tests. */
  readonly file?: string;
  /** The file and the test. */
  readonly by: string;
}

interface RunOptions {
  readonly tier: Tier;
  /** When to give up, in the time of `Date.now()`. */
  readonly untilMs: number;
}

/** The command of a run, and what counts its tests. */
function commandOf(root: string, files: readonly string[], tier: Tier) {
  clearReports(root);
  const isAll = tier === 'all';
  if (files.some(isBrowserTest)) {
    const { file, count } = playwrightReport(root, 'mutants');
    const args = ['test', '--max-failures=1', ...files.map((name) => basename(name))];
    const scope = isAll ? { WEFT_E2E: 'chromium', WEFT_E2E_LONG: '1' } : { WEFT_E2E: 'smoke' };
    const env = { ...scope, WEFT_E2E_PORT: PORT, PLAYWRIGHT_JSON_OUTPUT_NAME: file };
    // Interrupted, it ends its server, which is in no group of ours.
    const end = { silentMs: SILENT_MS.browser, signal: 'SIGINT' } as const;
    return { script: '@playwright/test/cli.js', args, env, count, ...end };
  }
  const { file, count } = vitestReport(root, 'mutants');
  const args = ['run', '--bail=1', '--reporter=verbose', '--reporter=json'];
  args.push(`--outputFile.json=${file}`, ...files.map((name) => join(root, name)));
  if (isAll) args.push('--mode', 'all');
  const env = isAll ? { WEFT_ALL: '1' } : {};
  const end = { silentMs: SILENT_MS[tier], signal: 'SIGKILL' } as const;
  return { script: 'vitest/vitest.mjs', args, env, count, ...end };
}

/** Runs files of tests, which are all browser tests or none, up to the first failure. */
export async function runTests(
  root: string,
  files: readonly string[],
  { tier, untilMs }: RunOptions,
): Promise<'passed' | 'out of time' | Failure> {
  const { script, args, env, count, silentMs, signal } = commandOf(root, files, tier);
  const { WEFT_ALL: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [join(root, 'node_modules', script), ...args], {
    cwd: root,
    env: { ...inherited, ...env },
    // A group, which ends with all that tests have started.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // It has ended.
    }
  };
  // The signals of a terminal do not reach the group.
  const stop = (): void => {
    kill();
    process.exit(130);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  let cut: 'out of time' | Failure | undefined;
  const end = (why: 'out of time' | Failure) => () => {
    cut ??= why;
    kill();
  };
  const deadline = setTimeout(end('out of time'), Math.min(untilMs - Date.now(), 2 ** 31 - 1));
  const silence = setTimeout(end({ by: 'a run that hangs' }), silentMs);
  for (const stream of [child.stdout, child.stderr]) stream.on('data', () => silence.refresh());
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject).on('close', resolve);
  });
  clearTimeout(deadline);
  clearTimeout(silence);
  process.off('SIGINT', stop).off('SIGTERM', stop);
  kill();
  return cut ?? (code === 0 ? 'passed' : failureOf(count, files));
}

function failureOf(
  count: ReturnType<typeof vitestReport>['count'],
  files: readonly string[],
): Failure {
  let failures: readonly { readonly text: string }[] | undefined;
  try {
    failures = count()?.failures;
  } catch {
    // The run ended while it wrote.
  }
  if (failures === undefined) return { by: 'a crash of the run' };
  const found = failures.map(({ text }) => ({
    by: text,
    file: files.find((name) => text.includes(isBrowserTest(name) ? basename(name) : name)),
  }));
  // Playwright says first that it ends early.
  const { by, file } = found.find((failure) => failure.file !== undefined) ?? found[0] ?? {};
  if (by === undefined) return { by: 'an error outside of tests' };
  return file === undefined ? { by } : { by, file };
}

/** The errors of types in a folder, a line each. */
export function typeErrors(root: string): string[] {
  const command = join(root, 'node_modules/.bin/tsc');
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 } as const;
  const { stdout, error } = spawnSync(command, ['--noEmit', '--pretty', 'false'], options);
  if (error !== undefined) throw error;
  return stdout.split('\n').filter((line) => /: error TS\d+/.test(line));
}
