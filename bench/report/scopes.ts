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

/** `full` takes less than ten minutes on any machine, `quick` about one. */
export const SCOPES: Readonly<Record<BenchReport['scope'], ReportScope>> = {
  full: {
    casesPerOperator: 4,
    limitMs: {
      adapter: 30_000,
      correctness: 150_000,
      costs: 40_000,
      kernels: 120_000,
      models: 60_000,
      tuning: 120_000,
    },
  },
  quick: {
    casesPerOperator: 1,
    limitMs: {
      adapter: 30_000,
      correctness: 25_000,
      costs: 20_000,
      kernels: 15_000,
      models: 15_000,
      tuning: 0,
    },
  },
};
