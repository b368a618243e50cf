import type { Browser, Page } from 'playwright';
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

/** A page of a context of its own. The browser's GPU process is running already. */
export async function openPage({
  browser,
  server,
}: Pick<Lab, 'browser' | 'server'>): Promise<Page> {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.on('pageerror', (error) => console.error(`  page: ${error.message}`));
  await page.goto(`${server.origin}/page.html`);
  await page.waitForFunction(() => 'bench' in globalThis);
  return page;
}
