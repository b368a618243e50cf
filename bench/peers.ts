import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPages, installPeers, PEER_PACKAGES } from './build-pages.ts';
import { modelCases } from './cases/model-cases.ts';
import { operatorCases } from './cases/operator-cases.ts';
import { launchBrowser } from './launch-browser.ts';
import { measureCase, measureMachine } from './measure-case.ts';
import { METHODS } from './methods.ts';
import { type Lab, openPage } from './open-page.ts';
import { type BenchOptions, parseOptions, USAGE } from './options.ts';
import type { MachineFigure } from './page/machine-steps.ts';
import type { AdapterReport } from './page/measure-ceilings.ts';
import { coldComplaints, coldTable } from './cold-table.ts';
import {
  failures,
  machineComplaints,
  machineTable,
  type Outcome,
  progress,
  warmComplaints,
  warmTable,
} from './report.ts';
import { servePages } from './serve-pages.ts';
import { figure } from './table.ts';
import {
  measureTrainings,
  trainingComplaints,
  type TrainingResult,
  trainingTable,
} from './training/measure-trainings.ts';
import { TRAINING_CASES } from './training/training-cases.ts';
import { writeSection } from '../scripts/write-section.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const models = join(root, '../shared/models');

/**
 * Weft against other runtimes in one page; see README.md. Resolves to the exit status: 1 when
 * outputs differ or Weft fails, or where the device has to reach its targets and one is missed; 2 for
 * wrong arguments.
 */
export async function main(args: readonly string[]): Promise<number> {
  let options: BenchOptions;
  try {
    options = parseOptions(args);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return 2;
  }
  if (!existsSync(models)) console.error(`no models: ${models} is not there; operator cases only`);
  const { device, threads, isIsolated } = options;
  const method = METHODS[device];
  const plans = [...operatorCases(device), ...modelCases(models, device)].filter(({ name }) =>
    options.cases.test(name),
  );
  installPeers();
  const pages = await buildPages();
  const warm = options.peers.includes('onnxruntime') ? method.onnxRuntimeFiles : [];
  const server = await servePages({ pages, peers: PEER_PACKAGES, warm, isIsolated });
  const browser = await launchBrowser(options.adapter);
  try {
    const { peers, runs } = options;
    const lab = { browser, server, device, method, threads, isIsolated, peers, runs };
    // The first page starts the browser's GPU process, which no case shall pay for.
    const ceilings = await measureCeilings(lab);
    const outcomes: Outcome[] = [];
    for (const [i, plan] of plans.entries()) {
      console.error(`[${i + 1}/${plans.length}] ${plan.title}`);
      const result = await measureCase(lab, plan);
      outcomes.push({ plan, result });
      for (const line of progress(result, method)) console.error(`  ${line}`);
    }
    const machine: MachineFigure[] = [];
    for (const name of method.machineCases.filter((name) => options.cases.test(name))) {
      console.error(name);
      machine.push(...(await measureMachine(lab, name)));
    }
    const trainings = await measureTrainings(
      lab,
      TRAINING_CASES.filter((name) => options.cases.test(name)),
    );
    const training = { results: trainings, lab };
    return report(outcomes, {
      machine,
      training,
      ceilings,
      options,
      browser: browser.version(),
      args,
    });
  } finally {
    await browser.close();
    server.close();
  }
}

async function measureCeilings(lab: Lab): Promise<AdapterReport> {
  const page = await openPage(lab);
  try {
    return await page.evaluate((device) => globalThis.bench.ceilings(device), lab.device);
  } finally {
    await page.context().close();
  }
}

interface Circumstances {
  readonly training: { readonly results: readonly TrainingResult[]; readonly lab: Lab };
  readonly machine: readonly MachineFigure[];
  readonly ceilings: AdapterReport;
  readonly options: BenchOptions;
  readonly browser: string;
  readonly args: readonly string[];
}

function report(
  outcomes: readonly Outcome[],
  { machine, training, ceilings, options, browser, args }: Circumstances,
): number {
  const date = new Date().toISOString().slice(0, 10);
  const command = ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' ');
  const method = METHODS[options.device];
  const failing = failures(outcomes);
  const text = [
    `\`${command}\`, ${date}, Chromium ${browser}, ${ceilings.adapter}; its ceilings: ` +
      `${figure(ceilings.gflops)} GFLOPS (multiply-adds in registers), ` +
      `${figure(ceilings.gbps)} GB/s (copy).`,
    ...(outcomes.length > 0
      ? [warmTable(outcomes, { peers: options.peers, method, ceilings })]
      : []),
    ...(failing.length > 0 ? [failing.join('\n')] : []),
    ...(outcomes.some(({ result }) => result.cold.length > 0) ? [coldTable(outcomes, method)] : []),
    ...(machine.length > 0 ? [machineTable(machine)] : []),
    ...(training.results.length > 0 ? [trainingTable(training.results, training.lab)] : []),
  ].join('\n\n');
  console.log(text);
  const { differing, missed: missedWarm } = warmComplaints(outcomes);
  const missed = [
    ...missedWarm,
    ...(method.mustReach ? coldComplaints(outcomes, method) : []),
    ...machineComplaints(machine),
  ];
  const unmet = trainingComplaints(training.results, training.lab);
  for (const line of [...missed, ...unmet]) console.error(`missed: ${line}`);
  for (const line of differing) console.error(line);
  if (options.json !== undefined) {
    const results = outcomes.map(({ plan, result }) => ({ targets: plan.targets, ...result }));
    const all = { command, date, browser, ceilings, results, machine, trainings: training.results };
    writeFileSync(options.json, `${JSON.stringify(all, null, 2)}\n`);
  }
  if (options.isWritten) {
    writeSection(join(root, 'docs/performance.md'), sectionOf(options), text);
  }
  return differing.length > 0 || unmet.length > 0 || (method.mustReach && missed.length > 0)
    ? 1
    : 0;
}

/** The command whose section of the document a run writes. */
function sectionOf({ device, threads }: BenchOptions): string {
  const more = [
    device === 'webgpu' ? '' : ` --device ${device}`,
    threads > 1 ? ` --threads ${threads}` : '',
  ];
  return `npm run bench --${more.join('')} --write`;
}
