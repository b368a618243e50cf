import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import type { Page } from 'playwright';
import { openPages } from '../../scripts/open-pages.ts';
import { launchBrowser } from '../open-page.ts';
import { type Adapter, adapterOption, parsed, withArguments } from '../options.ts';
import { type BenchReport, complaintsOf } from './bench-report.ts';
import { reportMarkdown } from './report-tables.ts';

interface Options {
  readonly quick?: true;
  readonly adapter: Adapter;
  readonly headed?: true;
  readonly json: string;
}

const command = (): Command =>
  new Command('npm run bench -- report')
    .option('--quick', 'a part of it, in about a minute')
    .addOption(adapterOption('hardware'))
    .option('--headed', 'with a window, for machines whose GPU no headless browser gets')
    .option('--json <file>', 'where the figures go', 'weft-report.json');

/**
 * Opens report.html in Chromium, measures this machine, prints tables and writes a file. Resolves to the exit status:
 * 1 where a kernel departs or there is no adapter, 2 for wrong arguments.
 */
export async function main(args: readonly string[]): Promise<number> {
  const options = parsed(() => withArguments(command(), args).opts<Options>());
  if (typeof options === 'number') return options;
  const { adapter, headed: isHeaded = false, json } = options;
  const pages = await openPages({
    only: ['report.html'],
    launch: () => launchBrowser(adapter, { isHeaded }),
  });
  try {
    const report = await measure(await pages.open('report.html'), options);
    writeFileSync(json, `${JSON.stringify(report, undefined, 2)}\n`);
    console.log(`${reportMarkdown(report)}\nwritten to ${json}`);
    if (report.adapter === undefined) {
      console.error(
        `No adapter for --adapter ${adapter}. Try --headed, or npm start and report.html in your own browser.`,
      );
      return 1;
    }
    return complaintsOf(report).length === 0 ? 0 : 1;
  } finally {
    await pages.close();
  }
}

const POLL_MS = 1000;

/** Starts the page and tells what it does, until it is done. */
async function measure(page: Page, { quick }: Options): Promise<BenchReport> {
  if (quick === true) await page.check('input[value="quick"]');
  await page.click('#start');
  let said = '';
  for (;;) {
    const { state, status, report } = await page.evaluate(() => ({
      state: document.documentElement.dataset['state'],
      status: document.getElementById('status')?.textContent ?? '',
      report: globalThis.weftReport,
    }));
    if (status !== said) console.error(status);
    said = status;
    if (report !== undefined && state === 'idle') return report;
    if (state === 'idle') throw new Error(status);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
