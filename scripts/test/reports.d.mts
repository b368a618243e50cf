import type { StageCounts } from './run-stage.mjs';

interface Report {
  /** The file to which the test runner writes. */
  readonly file: string;
  /** Undefined where there is no such file. */
  readonly count: () => Required<StageCounts> | undefined;
}

export function clearReports(root: string): void;
export function vitestReport(root: string, title: string, args?: readonly string[]): Report;
export function playwrightReport(
  root: string,
  title: string,
  env?: Readonly<Record<string, string>>,
): Report;
