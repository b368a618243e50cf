import type { BenchReport } from './bench-report.ts';

export const SECTIONS = {
  adapter: 'Adapter',
  correctness: 'Correctness',
  costs: 'Costs of the machine',
  kernels: 'Kernels',
  models: 'Models',
  tuning: 'Tuning',
} as const;
export type SectionName = keyof typeof SECTIONS;

/** How much is measured. */
export interface ReportScope {
  /** Cases of each operator at most. */
  readonly casesPerOperator: number;
  /** Milliseconds of each section at most, but for the case that is under way; 0: the section is left out. */
  readonly limitMs: Readonly<Record<SectionName, number>>;
}

/** Seconds of each section: of all of it, and of a part. */
const SECONDS: Readonly<Record<SectionName, readonly [full: number, quick: number]>> = {
  adapter: [30, 30],
  correctness: [150, 25],
  costs: [40, 20],
  kernels: [120, 15],
  models: [60, 15],
  tuning: [120, 0],
};

const limits = (at: 0 | 1): ReportScope['limitMs'] => {
  const entries = Object.entries(SECONDS).map(([name, seconds]) => [name, 1000 * seconds[at]]);
  return Object.fromEntries(entries) as ReportScope['limitMs'];
};

/** `full` takes less than ten minutes on any machine, `quick` about one. */
export const SCOPES: Readonly<Record<BenchReport['scope'], ReportScope>> = {
  full: { casesPerOperator: 4, limitMs: limits(0) },
  quick: { casesPerOperator: 1, limitMs: limits(1) },
};
