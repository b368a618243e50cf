import type { StageCounts } from './run-stage.mjs';

/** Counts of a stage with a line for each test that did not pass at once. */
export interface TestCounts extends StageCounts {
  readonly failures: readonly string[];
}

interface Report {
  /** The file to which the test runner writes. */
  readonly file: string;
  /** Undefined where there is no such file. */
  readonly count: () => TestCounts | undefined;
}

export const MOST_SECONDS: number;
export function clearReports(root: string): void;
export function vitestReport(root: string, title: string): Report;
export function playwrightReport(root: string, title: string): Report;
