import packageFile from '../../package.json' with { type: 'json' };
import { createDevice } from '../../src/worker/index.ts';
import { type OpenedAdapter, openAdapter } from '../../src/device/webgpu/adapter.ts';
import type { MachineCase } from '../cases/machine-cases.ts';
import { machineFiles } from '../cases/machine-cases.ts';
import { measureCeilings } from '../kernels/ceilings.ts';
import { messageOf } from '../limited.ts';
import {
  interpretation,
  launchOverhead,
  type MachineFigure,
  type SizedProgram,
} from '../page/machine-steps.ts';
import { readback } from '../page/readback.ts';
import { elements } from '../page/runtime.ts';
import { adapterFacts } from './adapter-facts.ts';
import { type BenchReport, startReport } from './bench-report.ts';
import { checkOperator, operatorChecks } from './check-kernels.ts';
import { REPORT_MODELS } from './model-case.ts';
import { SCOPES, type ReportScope, type SectionName } from './scopes.ts';
import { SectionTime } from './section-time.ts';
import { kernelCases, timeKernelCase } from './time-kernel-cases.ts';
import { timeModel } from './time-models.ts';
import { tuneModel } from './tune-models.ts';

/** How far it is: `done` of `total` steps of a section, of which `what` is next. */
export interface ReportProgress {
  readonly section: SectionName;
  readonly what: string;
  readonly done: number;
  readonly total: number;
}

interface MeasureOptions {
  readonly scope: BenchReport['scope'];
  /** Ends measuring; the report then holds what was measured. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ReportProgress, report: BenchReport) => void;
}

/**
 * Measures everything that matters on this machine, section by section, each within its time. A section that fails is
 * a note of the report, and the next ones go on. Without WebGPU there are models on the processor alone.
 */
export async function measureReport(options: MeasureOptions): Promise<BenchReport> {
  const report = startReport(packageFile.version, options.scope);
  const measuring = new Measuring(report, options);
  const begin = performance.now();
  try {
    await measuring.run();
    report.state = 'complete';
  } catch (error) {
    if (!options.signal.aborted) throw error;
    report.state = 'cancelled';
  } finally {
    report.durationMs = performance.now() - begin;
    measuring.close();
  }
  return report;
}

const COSTS: readonly (readonly [
  MachineCase,
  (programs: readonly SizedProgram[]) => Promise<readonly MachineFigure[]>,
])[] = [
  ['launch-overhead', launchOverhead],
  ['readback', readback],
  ['interpretation', interpretation],
];

class Measuring {
  readonly #report: BenchReport;
  readonly #scope: ReportScope;
  readonly #options: MeasureOptions;
  #opened: OpenedAdapter | undefined;

  constructor(report: BenchReport, options: MeasureOptions) {
    this.#report = report;
    this.#options = options;
    this.#scope = SCOPES[options.scope];
  }

  async run(): Promise<void> {
    await this.#section('adapter', () => this.#open());
    if (this.#opened !== undefined) {
      await this.#section('correctness', (time) => this.#check(time));
      await this.#section('costs', (time) => this.#measureCosts(time));
      await this.#section('kernels', (time) => this.#timeKernels(time));
    }
    await this.#section('models', (time) => this.#timeModels(time));
    if (this.#opened !== undefined) await this.#section('tuning', (time) => this.#tune(time));
  }

  close(): void {
    this.#opened?.device.destroy();
  }

  /** Anything but a cancellation is a note. */
  async #section(name: SectionName, work: (time: SectionTime) => Promise<void>): Promise<void> {
    const { signal } = this.#options;
    signal.throwIfAborted();
    const limitMs = this.#scope.limitMs[name];
    if (limitMs === 0) return;
    try {
      await work(new SectionTime(limitMs, signal));
    } catch (error) {
      signal.throwIfAborted();
      this.#report.notes.push(`${name}: ${messageOf(error)}`);
    }
  }

  #progress(section: SectionName, what: string, done: number, total: number): void {
    this.#options.onProgress({ section, what, done, total }, this.#report);
  }

  #note(line: string | undefined): void {
    if (line !== undefined) this.#report.notes.push(line);
  }

  async #open(): Promise<void> {
    this.#progress('adapter', 'the adapter', 0, 1);
    const { gpu } = navigator;
    const opened = await openAdapter({ gpu });
    const adapter = await gpu.requestAdapter();
    if (adapter === null) throw new Error('no adapter');
    this.#opened = opened;
    this.#report.adapter = adapterFacts(opened, adapter);
  }

  async #check(time: SectionTime): Promise<void> {
    const checks = operatorChecks();
    const device = await createDevice('webgpu');
    try {
      const left = await time.each('correctness', checks, async (check, i) => {
        this.#progress('correctness', check.operator, i, checks.length);
        if (!this.#report.families.includes(check.check)) this.#report.families.push(check.check);
        await checkOperator(device, check, this.#scope.casesPerOperator);
      });
      this.#note(left);
    } finally {
      device.destroy();
    }
  }

  async #measureCosts(time: SectionTime): Promise<void> {
    const total = COSTS.length + 1;
    const left = await time.each('costs', COSTS, async ([name, measure], i) => {
      this.#progress('costs', name, i, total);
      this.#report.costs.push(...(await measure(placePrograms(name))));
    });
    this.#note(left);
    this.#progress('costs', 'arithmetic and copies', COSTS.length, total);
    if (this.#opened !== undefined) this.#report.ceilings = await measureCeilings(this.#opened);
  }

  async #timeKernels(time: SectionTime): Promise<void> {
    const opened = this.#opened;
    const { ceilings } = this.#report;
    if (opened === undefined || ceilings === undefined)
      throw new Error('no ceilings to compare with');
    const cases = kernelCases(opened.caps.shaderF16, this.#report.scope === 'quick');
    const left = await time.each('kernels', cases, async (benchCase, i) => {
      this.#progress('kernels', benchCase.title, i, cases.length);
      this.#report.kernels.push(await timeKernelCase(opened, benchCase, ceilings));
    });
    this.#note(left);
    if (!opened.caps.shaderF16) this.#note('kernels: no float16, the adapter lacks shader-f16');
  }

  async #timeModels(time: SectionTime): Promise<void> {
    const devices =
      this.#opened === undefined ? (['wasm'] as const) : (['webgpu', 'wasm'] as const);
    const races = REPORT_MODELS.flatMap((model) => devices.map((device) => ({ model, device })));
    const left = await time.each('models', races, async ({ model, device }, i) => {
      this.#progress('models', `${model.name} on ${device}`, i, races.length);
      this.#report.models.push(await timeModel(model, device));
    });
    this.#note(left);
  }

  async #tune(time: SectionTime): Promise<void> {
    const { signal } = this.#options;
    const left = await time.each('tuning', REPORT_MODELS, async (model, i) => {
      this.#progress('tuning', model.name, i, REPORT_MODELS.length);
      const limitMs = time.leftMs / (REPORT_MODELS.length - i);
      this.#report.tunings.push(await tuneModel(model, { signal, limitMs }));
    });
    this.#note(left);
  }
}

/** Gives the programs of a cost addresses in this page. */
function placePrograms(name: MachineCase): SizedProgram[] {
  return [...machineFiles(name)].map(([file, bytes]) => {
    const url = `${name}${file}`;
    elements.set(url, bytes.slice().buffer);
    return { url, size: Number(/(\d+)\.weft$/.exec(file)?.[1]) };
  });
}
