import type { Ceilings } from './ceilings.ts';
import type { BenchCase } from './cases.ts';

/** A rate beside the ceiling for its kind of work. */
export interface Rate {
  readonly rate: number;
  readonly unit: 'GFLOPS' | 'GB/s';
  /** Of the ceiling, 1 for all of it. */
  readonly share: number;
}

/** The rate of work that took so many milliseconds. */
export function rateOf(
  work: BenchCase['work'],
  { ms, ceilings }: { readonly ms: number; readonly ceilings: Ceilings },
): Rate {
  const [amount, ceiling, unit] =
    'flops' in work
      ? ([work.flops, ceilings.gflops, 'GFLOPS'] as const)
      : ([work.bytes, ceilings.gbps, 'GB/s'] as const);
  const rate = amount / ms / 1e6;
  return { rate, unit, share: rate / ceiling };
}
