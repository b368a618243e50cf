import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { FuzzReport, FuzzRequest } from './run-inputs.ts';

/** An input that takes longer is given up: it never ends. */
const MOST_SILENT_MS = 300_000;

/** Runs inputs in a process of its own, which can be ended where an input does not end. */
export async function runPiece({ kind, seed, count }: FuzzRequest): Promise<FuzzReport> {
  const args = ['--kind', kind, '--seed', String(seed), '--count', String(count), '--piece'];
  const script = ['scripts/run-ts.mjs', 'tools/differential/fuzz-files.ts', ...args];
  const child = spawn(process.execPath, script, { stdio: ['ignore', 'pipe', 'inherit'] });
  let current = seed;
  let report: FuzzReport | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStuck = false;
  const watch = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isStuck = true;
      child.kill('SIGKILL');
    }, MOST_SILENT_MS);
  };
  watch();
  for await (const line of createInterface({ input: child.stdout })) {
    watch();
    if (line.startsWith('{')) report = JSON.parse(line) as FuzzReport;
    else current = Number(line);
  }
  clearTimeout(timer);
  if (report !== undefined) return report;
  // The child tells of every hundredth input.
  const text = `${isStuck ? 'no end' : 'the process ended'} within 100 inputs from here`;
  const slowest = { seed: current, cpuMs: MOST_SILENT_MS };
  return { count, outcomes: {}, problems: [{ seed: current, text }], slowest };
}

/** The sums of two reports. */
export function addReports(a: FuzzReport, b: FuzzReport): FuzzReport {
  const outcomes: Record<string, number> = { ...a.outcomes };
  for (const [name, count] of Object.entries(b.outcomes)) {
    outcomes[name] = (outcomes[name] ?? 0) + count;
  }
  return {
    count: a.count + b.count,
    outcomes,
    problems: [...a.problems, ...b.problems],
    slowest: a.slowest.cpuMs >= b.slowest.cpuMs ? a.slowest : b.slowest,
  };
}
