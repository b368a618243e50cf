import type { Browser } from 'playwright';
import type { BenchDevice, Peer } from './cases/bench-case.ts';
import type { Method } from './methods.ts';
import type { PageServer } from './serve-pages.ts';

/** The browser, the pages and the rules with which cases are measured. */
export interface Lab {
  readonly browser: Browser;
  readonly server: PageServer;
  readonly device: BenchDevice;
  readonly method: Method;
  readonly peers: readonly Peer[];
  /** Rounds of warm runs at most. */
  readonly runs: number;
  /** Of each runtime on the processor. */
  readonly threads: number;
  /** True if pages are cross-origin isolated. */
  readonly isIsolated: boolean;
}

/** The key of targets that depend on it. */
export const pageKind = ({ isIsolated }: Pick<Lab, 'isIsolated'>): 'isolated' | 'apart' =>
  isIsolated ? 'isolated' : 'apart';
