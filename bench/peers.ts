import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPages, installPeers, PEER_PACKAGES } from './build-pages.ts';
import { machineCases } from './cases/machine-cases.ts';
import { modelCases } from './cases/model-cases.ts';
import { operatorCases } from './cases/operator-cases.ts';
import { trainingCases } from './cases/model-writer.ts';
import { measureCase, measureMachine } from './measure-case.ts';
import { METHODS } from './methods.ts';
import { inPage, launchBrowser } from './open-page.ts';
import { type BenchOptions, parsed, parseOptions } from './options.ts';
import type { MachineFigure } from './page/machine-steps.ts';
import type { AdapterReport } from './page/measure-ceilings.ts';
import {
  coldComplaints,
  coldTable,
  failures,
  machineComplaints,
  machineTable,
  type Outcome,
  progress,
  warmComplaints,
  warmTable,
} from './report.ts';
import { printSection } from './print-section.ts';
import { servePages } from './serve-pages.ts';
import { figure } from './table.ts';

const models = join(dirname(fileURLToPath(import.meta.url)), '../../shared/models');

/**
 * Weft against other runtimes in one page; see README.md. Resolves to the exit status: 1 when
 * outputs differ or Weft fails, or where the device has to reach its targets and one is missed; 2 for
 * wrong arguments.
 */
export async function main(args: readonly string[]): Promise<number> {
  const options = parsed(() => parseOptions(args));
  if (typeof options === 'number') return options;
  if (!existsSync(models)) console.error(`no models: ${models} is not there; operator cases only`);
  const { device, threads, isIsolated } = options;
  const method = METHODS[device];
  const plans = [
    ...operatorCases(device),
    ...modelCases(models, device),
    ...trainingCases(),
  ].filter(({ name }) => options.case.test(name));
  installPeers();
  const pages = await buildPages();
  const warm = options.peers.includes('onnxruntime') ? method.onnxRuntimeFiles : [];
  const server = await servePages({ pages, peers: PEER_PACKAGES, warm, isIsolated });
  const browser = await launchBrowser(options.adapter);
  try {
    const { peers, runs } = options;
    const lab = { browser, server, device, method, threads, isIsolated, peers, runs };
    // The first page starts the browser's GPU process, which no case shall pay for.
    const ceilings = await inPage(lab, (page) =>
      page.evaluate((device) => globalThis.bench.ceilings(device), device),
    );
    const outcomes: Outcome[] = [];
    for (const [i, plan] of plans.entries()) {
      console.error(`[${i + 1}/${plans.length}] ${plan.title}`);
      const result = await measureCase(lab, plan);
      outcomes.push({ plan, result });
      for (const line of progress(result, method)) console.error(`  ${line}`);
    }
    const machine: MachineFigure[] = [];
    for (const name of machineCases(device).filter((name) => options.case.test(name))) {
      console.error(name);
      machine.push(...(await measureMachine(lab, name)));
    }
    return report(outcomes, { machine, ceilings, options, browser: browser.version(), args });
  } finally {
    await browser.close();
    server.close();
  }
}

interface Circumstances {
  readonly machine: readonly MachineFigure[];
  readonly ceilings: AdapterReport;
  readonly options: BenchOptions;
  readonly browser: string;
  readonly args: readonly string[];
}

function report(
  outcomes: readonly Outcome[],
  { machine, ceilings, options, browser, args }: Circumstances,
): number {
  const command = ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' ');
  const method = METHODS[options.device];
  const failing = failures(outcomes);
  const about =
    `${browser}, ${ceilings.adapter}; its ceilings: ` +
    `${figure(ceilings.gflops)} GFLOPS (multiply-adds in registers), ` +
    `${figure(ceilings.gbps)} GB/s (copy).`;
  const parts = [
    ...(outcomes.length > 0
      ? [warmTable(outcomes, { peers: options.peers, method, ceilings })]
      : []),
    ...(failing.length > 0 ? [failing.join('\n')] : []),
    ...(outcomes.some(({ result }) => result.cold.length > 0) ? [coldTable(outcomes, method)] : []),
    ...(machine.length > 0 ? [machineTable(machine)] : []),
  ];
  printSection({ command, about, parts }, options.write === true ? sectionOf(options) : undefined);
  const { differing, missed: missedWarm } = warmComplaints(outcomes);
  const missed = [
    ...missedWarm,
    ...(method.mustReach ? coldComplaints(outcomes, method) : []),
    ...machineComplaints(machine),
  ];
  const isUnmet = outcomes.some(
    ({ plan, result }) => plan.isTraining === true && result.cells.some((cell) => !cell.isReached),
  );
  for (const line of missed) console.error(`missed: ${line}`);
  for (const line of differing) console.error(line);
  if (options.json !== undefined) {
    const results = outcomes.map(({ plan, result }) => ({ targets: plan.targets, ...result }));
    const date = new Date().toISOString().slice(0, 10);
    const all = { command, date, browser, ceilings, results, machine };
    writeFileSync(options.json, `${JSON.stringify(all, null, 2)}\n`);
  }
  return differing.length > 0 || isUnmet || (method.mustReach && missed.length > 0) ? 1 : 0;
}

/** The command whose section of the document a run writes. */
function sectionOf({ device, threads }: BenchOptions): string {
  const more = [
    device === 'webgpu' ? '' : ` --device ${device}`,
    threads > 1 ? ` --threads ${threads}` : '',
  ];
  return `npm run bench --${more.join('')} --write`;
}
