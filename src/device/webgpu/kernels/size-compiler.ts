import type { PrimitiveFunction } from '../../../core/contracts/primitive-function.ts';
import { shapesOf, type Sizes } from '../../../core/contracts/call-shapes.ts';
import { realLaunches } from './compiled-plan.ts';
import { launchesOfSamples, unlessRefused } from './sampled-launches.ts';
import type { KernelContext, WebGpuKernel } from './webgpu-kernel.ts';

/** The device had nothing to do for so long: there is time to guess, in milliseconds. */
const IDLE_MS = 500;

/** Sets of sizes whose pipelines are known to be there. */
const MAX_KNOWN_SIZES = 256;

export interface SymbolicKernel {
  readonly primitive: PrimitiveFunction;
  readonly kernel: WebGpuKernel;
}

/**
 * Pipelines of a program's kernels that depend on sizes which are not known when it is loaded.
 * Before a call all that it needs compile at the same time, so that none does in its middle; while
 * nothing is launched, those of sizes that may come compile one by one.
 */
export class SizeCompiler {
  readonly #kernels: readonly SymbolicKernel[];
  readonly #context: KernelContext;
  /** Compilations by sizes; undefined once the pipelines are there. */
  readonly #known = new Map<string, Promise<void> | undefined>();
  #idle: ReturnType<typeof setTimeout> | undefined;
  /** The count of submits when the device was last looked at. */
  #submits = -1;
  #isStopped = false;

  constructor(kernels: readonly SymbolicKernel[], context: KernelContext) {
    this.#kernels = kernels;
    this.#context = context;
  }

  /** Undefined when nothing has to be waited for. Rejects with DeviceError or DeviceLostError. */
  compileForSizes(sizes: Sizes): Promise<void> | undefined {
    if (sizes.size === 0) return undefined;
    const key = [...sizes].join();
    if (this.#known.has(key)) return this.#known.get(key);
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size >= MAX_KNOWN_SIZES) this.#known.delete(oldest);
    const work = this.#prepare(sizes).finally(() => this.#known.set(key, undefined));
    this.#known.set(key, work);
    return work;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#idle);
  }

  /** From now on compiles for representative sizes whenever the device has nothing to do. */
  guessWhenIdle(): void {
    if (this.#isStopped) return;
    this.#submits = this.#context.queue.submits;
    this.#idle = setTimeout(() => {
      if (this.#isBusy()) this.guessWhenIdle();
      // A pipeline that fails here fails again, and is reported, when it is needed.
      else this.#guess().catch(() => undefined);
    }, IDLE_MS);
  }

  /** Returns true if calls came since the timer was set, or wait for pipelines. */
  #isBusy(): boolean {
    if (this.#submits !== this.#context.queue.submits) return true;
    return [...this.#known.values()].some((work) => work !== undefined);
  }

  async #prepare(sizes: Sizes): Promise<void> {
    const { planner, pipelines } = this.#context;
    const work = this.#kernels.map(async ({ primitive, kernel }) => {
      const shapes = shapesOf(primitive, sizes);
      if (shapes === undefined || kernel.hasPlan(shapes)) return;
      const plan = unlessRefused(() => planner.plan(primitive, shapes));
      if (plan === undefined) return;
      const compiling = realLaunches(plan).map((launch) => pipelines.compile(launch));
      const compiled = await Promise.all(compiling);
      if (!this.#isStopped) kernel.addPlan(plan, compiled, shapes);
    });
    await Promise.all(work);
  }

  async #guess(): Promise<void> {
    for (const { primitive, kernel } of this.#kernels) {
      for (const launch of launchesOfSamples(primitive, this.#context.planner)) {
        const pipeline = await this.#context.pipelines.compile(launch);
        if (this.#isStopped) return;
        kernel.keep(pipeline);
        if (this.#isBusy()) return this.guessWhenIdle();
      }
    }
  }
}
