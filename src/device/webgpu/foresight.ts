import { WeftError } from '../../core/errors.ts';
import type { Launch } from '../../core/launch-plan.ts';
import type { PrimitiveFunction } from '../../core/primitive-function.ts';
import { realLaunches } from './compiled-plan.ts';
import type { KernelPlanner } from './kernel-planner.ts';
import type { CallShapes } from './planner/plan.ts';
import {
  contrastingShapes,
  representativeShapes,
  shapesOf,
  type Sizes,
} from './representative-shapes.ts';
import type { KernelParts, WebGpuKernel } from './webgpu-kernel.ts';

/** Nobody has called a program for so long: there is time to guess, in milliseconds. */
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
 * nobody calls, those of sizes that may come compile one by one.
 */
export class Foresight {
  readonly #kernels: readonly SymbolicKernel[];
  readonly #parts: KernelParts;
  /** By sizes; undefined once the pipelines are there. */
  readonly #known = new Map<string, Promise<void> | undefined>();
  #idle: ReturnType<typeof setTimeout> | undefined;
  /** How often guessing has begun: what was begun before ends at its next step. */
  #guesses = 0;
  /** Whether there is nothing left to guess. */
  #isComplete = false;
  #isStopped = false;

  constructor(kernels: readonly SymbolicKernel[], parts: KernelParts) {
    this.#kernels = kernels;
    this.#parts = parts;
    if (kernels.length > 0) this.#guessWhenIdle();
  }

  /** Undefined when nothing has to be waited for. Rejects with DeviceError or DeviceLostError. */
  foresee(sizes: Sizes): Promise<void> | undefined {
    if (this.#kernels.length === 0 || sizes.size === 0) return undefined;
    this.#guessWhenIdle();
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
    this.#stopGuessing();
  }

  #guessWhenIdle(): void {
    this.#stopGuessing();
    if (this.#isComplete || this.#isStopped) return;
    this.#idle = setTimeout(() => {
      // What fails here fails again, and is reported, when it is needed.
      this.#guess().catch(() => undefined);
    }, IDLE_MS);
  }

  #stopGuessing(): void {
    clearTimeout(this.#idle);
    this.#guesses++;
  }

  async #prepare(sizes: Sizes): Promise<void> {
    const { planner, pipelines } = this.#parts;
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
    const guess = this.#guesses;
    for (const { primitive, kernel } of this.#kernels) {
      for (const launch of launchesOfSamples(primitive, this.#parts.planner)) {
        const pipeline = await this.#parts.pipelines.compile(launch);
        if (this.#isStopped) return;
        kernel.keep(pipeline);
        if (guess !== this.#guesses) return;
      }
    }
    this.#isComplete = true;
  }
}

/** What a primitive launches for all sizes, as far as two samples tell. */
export function launchesOfAll(primitive: PrimitiveFunction, planner: KernelPlanner): Launch[] {
  const [some = [], others = []] = contrastingShapes(primitive).map((shapes) =>
    launchesFor(primitive, shapes, planner),
  );
  return some.filter(({ code }) => others.some((other) => other.code === code));
}

/** Launches with different code for samples of sizes. */
export function launchesOfSamples(primitive: PrimitiveFunction, planner: KernelPlanner): Launch[] {
  const launches = (differing: boolean) =>
    representativeShapes(primitive, { differing }).flatMap((shapes) =>
      launchesFor(primitive, shapes, planner),
    );
  const alike = launches(false);
  const all = alike.length > 0 ? alike : launches(true);
  return [...new Map(all.map((launch) => [launch.code, launch])).values()];
}

function launchesFor(
  primitive: PrimitiveFunction,
  shapes: CallShapes,
  planner: KernelPlanner,
): readonly Launch[] {
  const plan = unlessRefused(() => planner.plan(primitive, shapes));
  return plan === undefined ? [] : realLaunches(plan);
}

/** Dimensions that were made up need not fit each other; of real ones the call itself complains. */
function unlessRefused<T>(plan: () => T): T | undefined {
  try {
    return plan();
  } catch (error) {
    if (error instanceof WeftError) return undefined;
    throw error;
  }
}
