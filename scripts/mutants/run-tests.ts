import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Tier } from './reaching-tests.ts';

/** A run that finishes no test for so long hangs. */
const SILENT_MS: Readonly<Record<Tier, number>> = { test: 120_000, all: 600_000 };

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

/** Runs files of tests up to the first failure. What fails is tried a second time: the machine may be busy. */
export async function runTests(
  root: string,
  files: readonly string[],
  { tier, untilMs }: RunOptions,
): Promise<'passed' | 'out of time' | Failure> {
  const report = join(root, '.weft-cache/mutants-report.json');
  rmSync(report, { force: true });
  const { WEFT_ALL: _, ...env } = process.env;
  const args = ['run', '--bail=1', '--reporter=verbose', '--reporter=json'];
  args.push(`--outputFile.json=${report}`, ...files.map((file) => join(root, file)));
  if (tier === 'all') args.push('--mode', 'all');
  const child = spawn(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...args], {
    cwd: root,
    env: tier === 'all' ? { ...env, WEFT_ALL: '1' } : env,
    // A group, which ends with all that tests have started.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
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
  const silence = setTimeout(end({ by: 'a run that hangs' }), SILENT_MS[tier]);
  for (const stream of [child.stdout, child.stderr]) stream.on('data', () => silence.refresh());
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject).on('close', resolve);
  });
  clearTimeout(deadline);
  clearTimeout(silence);
  process.off('SIGINT', stop).off('SIGTERM', stop);
  kill();
  return cut ?? (code === 0 ? 'passed' : failureOf(report, root));
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

function failureOf(path: string, root: string): Failure {
  let report: Report;
  try {
    report = JSON.parse(readFileSync(path, 'utf8')) as Report;
  } catch {
    return { by: 'a crash of the run' };
  }
  const found = report.testResults.find(({ status }) => status === 'failed');
  if (found === undefined) return { by: 'an error outside of tests' };
  const file = relative(root, found.name).replaceAll('\\', '/');
  const test = found.assertionResults.find(({ status }) => status === 'failed');
  return { file, by: `${file}: ${test?.fullName ?? found.message.split('\n', 1).join()}` };
}

/** The errors of types in a folder, a line each. */
export function typeErrors(root: string): string[] {
  const command = join(root, 'node_modules/.bin/tsc');
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 } as const;
  const { stdout, error } = spawnSync(command, ['--noEmit', '--pretty', 'false'], options);
  if (error !== undefined) throw error;
  return stdout.split('\n').filter((line) => /: error TS\d+/.test(line));
}
