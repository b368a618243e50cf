import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium } from 'playwright';
import { findChromium } from '../scripts/find-chromium.mjs';
import { buildPages, installPeers, PEER_PACKAGES } from './build-pages.ts';
import { MACHINE_CASES } from './cases/machine-cases.ts';
import { modelCases } from './cases/model-cases.ts';
import { operatorCases } from './cases/operator-cases.ts';
import { type Lab, measureCase, measureMachine, openPage } from './measure-case.ts';
import { type BenchOptions, parseOptions, USAGE } from './options.ts';
import type { MachineFigure } from './page/machine-steps.ts';
import type { AdapterReport } from './page/measure-ceilings.ts';
import {
  coldTable,
  complaints,
  failures,
  figure,
  machineTable,
  type Outcome,
  progress,
  warmTable,
} from './report.ts';
import { servePages } from './serve-pages.ts';
import { writeSection } from '../scripts/write-section.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const models = join(root, '../shared/models');

const FLAGS = ['--enable-unsafe-webgpu', '--no-sandbox', '--disable-background-networking'];

/** What a page with onnxruntime-web's WebGPU provider loads. */
const ONNX_RUNTIME_FILES = [
  'onnxruntime-web/dist/ort.webgpu.bundle.min.mjs',
  'onnxruntime-web/dist/ort-wasm-simd-threaded.asyncify.wasm',
];

/**
 * Weft against other runtimes in one page; see README.md. Resolves to the exit status: 1 when
 * outputs differ or Weft fails, 2 for wrong arguments. A target that is missed is no failure.
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
  const plans = [...operatorCases(), ...modelCases(models)].filter(({ name }) =>
    options.cases.test(name),
  );
  installPeers();
  const pages = await buildPages();
  const warm = options.peers.includes('onnxruntime') ? ONNX_RUNTIME_FILES : [];
  const server = await servePages({ pages, peers: PEER_PACKAGES, warm });
  const browser = await launch(options);
  try {
    const lab = { browser, server, peers: options.peers, runs: options.runs };
    // The first page starts the browser's GPU process, which no case shall pay for.
    const ceilings = await measureCeilings(lab);
    const outcomes: Outcome[] = [];
    for (const [i, plan] of plans.entries()) {
      console.error(`[${i + 1}/${plans.length}] ${plan.title}`);
      const result = await measureCase(lab, plan);
      outcomes.push({ plan, result });
      for (const line of progress(result)) console.error(`  ${line}`);
    }
    const machine: MachineFigure[] = [];
    for (const name of MACHINE_CASES.filter((name) => options.cases.test(name))) {
      console.error(name);
      machine.push(...(await measureMachine(lab, name)));
    }
    return report(outcomes, { machine, ceilings, options, browser: browser.version(), args });
  } finally {
    await browser.close();
    server.close();
  }
}

async function launch({ adapter }: BenchOptions): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('No Chromium is installed; run npm test once.');
  const software = adapter === 'software' ? ['--use-webgpu-adapter=swiftshader'] : [];
  const hardware = adapter === 'hardware' ? ['--enable-features=Vulkan'] : [];
  return chromium.launch({ executablePath, args: [...FLAGS, ...software, ...hardware] });
}

async function measureCeilings(lab: Lab): Promise<AdapterReport> {
  const page = await openPage(lab);
  try {
    return await page.evaluate(() => globalThis.bench.ceilings());
  } finally {
    await page.context().close();
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
  const date = new Date().toISOString().slice(0, 10);
  const command = ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' ');
  const failing = failures(outcomes);
  const text = [
    `\`${command}\`, ${date}, Chromium ${browser}, adapter ${ceilings.adapter}; its ceilings: ` +
      `${figure(ceilings.gflops)} GFLOPS (multiply-adds in registers), ` +
      `${figure(ceilings.gbps)} GB/s (copy).`,
    ...(outcomes.length > 0 ? [warmTable(outcomes, options.peers, ceilings)] : []),
    ...(failing.length > 0 ? [failing.join('\n')] : []),
    ...(outcomes.some(({ result }) => result.cold.length > 0) ? [coldTable(outcomes)] : []),
    ...(machine.length > 0 ? [machineTable(machine)] : []),
  ].join('\n\n');
  console.log(text);
  const { differing, missed } = complaints(outcomes);
  for (const line of missed) console.error(`missed: ${line}`);
  for (const line of differing) console.error(line);
  if (options.json !== undefined) {
    const results = outcomes.map(({ plan, result }) => ({ targets: plan.targets, ...result }));
    const all = { command, date, browser, ceilings, results, machine };
    writeFileSync(options.json, `${JSON.stringify(all, null, 2)}\n`);
  }
  if (options.isWritten) {
    writeSection(join(root, 'docs/performance.md'), 'npm run bench -- --write', text);
  }
  return differing.length > 0 ? 1 : 0;
}
