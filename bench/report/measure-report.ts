import packageFile from '../../package.json' with { type: 'json' };
import { createDevice } from '../../src/worker/index.ts';
import { type OpenedAdapter, openAdapter } from '../../src/device/webgpu/adapter.ts';
import { type MachineCase, machinePrograms, type SizedProgram } from '../cases/machine-cases.ts';
import { measureCeilings } from '../kernels/ceilings.ts';
import { messageOf } from '../limited.ts';
import { MEASURES } from '../page/machine-steps.ts';
import { elements } from '../page/runtime.ts';
import { adapterFacts, type BenchReport, startReport } from './bench-report.ts';
import { checkOperator, kernelCases, operatorChecks, timeKernelCase } from './kernels.ts';
import { REPORT_MODELS, timeModel, tuneModel } from './models.ts';
import { SCOPES, type ReportScope, type SectionName } from './scopes.ts';
import { SectionTime } from './section-time.ts';

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

const COSTS = (['launch-overhead', 'readback', 'interpretation'] as const).map((title) => ({
  title,
}));

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

  /** Each of the items in the time of a section. */
  async #each<T extends { readonly title: string }>(
    section: SectionName,
    time: SectionTime,
    items: readonly T[],
    work: (item: T, index: number) => Promise<void>,
  ): Promise<void> {
    const left = await time.each(section, items, (item, i) => {
      this.#progress(section, item.title, i, items.length);
      return work(item, i);
    });
    if (left !== undefined) this.#report.notes.push(left);
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
    const checks = operatorChecks().map((check) => ({ ...check, title: check.operator }));
    const device = await createDevice('webgpu');
    try {
      await this.#each('correctness', time, checks, async (check) => {
        if (!this.#report.families.includes(check.check)) this.#report.families.push(check.check);
        await checkOperator(device, check, this.#scope.casesPerOperator);
      });
    } finally {
      device.destroy();
    }
  }

  async #measureCosts(time: SectionTime): Promise<void> {
    await this.#each('costs', time, COSTS, async ({ title }) => {
      this.#report.costs.push(...(await MEASURES[title](placePrograms(title), 'webgpu')));
    });
    this.#progress('costs', 'arithmetic and copies', COSTS.length, COSTS.length + 1);
    if (this.#opened !== undefined) this.#report.ceilings = await measureCeilings(this.#opened);
  }

  async #timeKernels(time: SectionTime): Promise<void> {
    const opened = this.#opened;
    const { ceilings } = this.#report;
    if (opened === undefined || ceilings === undefined)
      throw new Error('no ceilings to compare with');
    const cases = kernelCases(opened.caps.shaderF16, this.#report.scope === 'quick');
    await this.#each('kernels', time, cases, async (benchCase) => {
      this.#report.kernels.push(await timeKernelCase(opened, benchCase, ceilings));
    });
    if (!opened.caps.shaderF16)
      this.#report.notes.push('kernels: no float16, the adapter lacks shader-f16');
  }

  async #timeModels(time: SectionTime): Promise<void> {
    const devices =
      this.#opened === undefined ? (['wasm'] as const) : (['webgpu', 'wasm'] as const);
    const races = REPORT_MODELS.flatMap((model) =>
      devices.map((device) => ({ model, device, title: `${model.name} on ${device}` })),
    );
    await this.#each('models', time, races, async ({ model, device }) => {
      this.#report.models.push(await timeModel(model, device));
    });
  }

  async #tune(time: SectionTime): Promise<void> {
    const { signal } = this.#options;
    await this.#each('tuning', time, REPORT_MODELS, async (model, i) => {
      const limitMs = time.leftMs / (REPORT_MODELS.length - i);
      this.#report.tunings.push(await tuneModel(model, { signal, limitMs }));
    });
  }
}

/** Gives the programs of a cost addresses in this page. */
function placePrograms(name: MachineCase): readonly SizedProgram[] {
  const { programs, files } = machinePrograms(name);
  for (const [url, bytes] of files) elements.set(url, bytes.slice().buffer);
  return programs;
}
