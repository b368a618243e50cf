import type { CompileMode } from '../../../core/contracts/compile-mode.ts';
import { abortError, WeftError } from '../../../core/errors.ts';
import type { Launch, LaunchPlan } from '../../../core/contracts/launch-plan.ts';
import type { PrimitiveFunction } from '../../../core/contracts/primitive-function.ts';
import { macrotask } from '../../../core/async/macrotask.ts';
import { untilAborted } from '../../../core/async/until-aborted.ts';
import type { Device, PreparedKernels, PrepareOptions } from '../../device.ts';
import type { BufferTable } from '../memory/buffers.ts';
import { shapesOf } from '../../../core/contracts/call-shapes.ts';
import { realLaunches, writesScratch } from './compiled-plan.ts';
import type { DeviceFaults } from '../faults/device-faults.ts';
import type { SymbolicKernel } from './size-compiler.ts';
import type { CachedPipeline } from './pipeline-cache.ts';
import type { CallShapes } from '../../../core/contracts/call-shapes.ts';
import type { Refusal } from './refused-kernels.ts';
import type { ScratchPool } from '../memory/scratch-pool.ts';
import { type KernelContext, WebGpuKernel } from './webgpu-kernel.ts';

/** How long planning may hold the thread. */
const PLANNING_SLICE_MS = 4;

interface PrepareContext extends KernelContext {
  readonly buffers: BufferTable;
  readonly scratch: ScratchPool;
  readonly faults: DeviceFaults;
  readonly adapterName: string;
  readonly device: Device;
}

/** The pipelines to compile for one primitive. */
interface Preparation {
  readonly primitive: PrimitiveFunction;
  /** The plan for known shapes; undefined when symbols have no size yet. */
  readonly fixed: { readonly plan: LaunchPlan; readonly shapes: CallShapes } | undefined;
  /** True if calls announce the sizes of all symbols before their launches (`compileForSizes`). */
  readonly isBound: boolean;
  /** Everything to compile now; of symbolic shapes a sample. */
  readonly launches: readonly Launch[];
}

/** Plans and compiles `primitives`; see {@link Device.prepare}. */
export async function prepareKernels(
  primitives: readonly PrimitiveFunction[],
  context: PrepareContext,
  options: PrepareOptions,
): Promise<PreparedKernels> {
  const { signal, boundSymbols, compile, prepacking, idle, owner } = options;
  if (signal?.aborted) throw abortError(signal);
  // Only programs with symbolic sizes need it; it comes while kernels are planned.
  const loading = boundSymbols?.size ? import('./size-compiler.ts') : undefined;
  loading?.catch(() => undefined);
  const compilation = new Compilation(context, options);
  const planning = { context, compilation, signal, boundSymbols, compile };
  const preparations = await planAll(primitives, planning);
  const compilesForSizes = preparations.some(({ isBound }) => isBound);
  const usesScratch = preparations.some(({ launches }) => launches.some((l) => writesScratch(l)));
  const [pipelines, sizeCompilers, prepacker] = await Promise.all([
    compilation.finish(),
    compilesForSizes ? loading : undefined,
    prepacking && usesScratch ? import('../memory/prepacked-weights.ts') : undefined,
  ]);
  if (signal?.aborted) throw abortError(signal);
  const weights =
    prepacking &&
    prepacker &&
    new prepacker.PrepackedWeights(context.buffers, prepacking, context.faults);
  const kernels = new Map<string, WebGpuKernel>();
  const symbolic: SymbolicKernel[] = [];
  for (const preparation of preparations) {
    const { primitive, isBound } = preparation;
    const kernel = makeKernel(preparation, pipelines, {
      ...context,
      memory: { weights, idle, owner },
    });
    kernels.set(primitive.name, kernel);
    if (isBound) symbolic.push({ primitive, kernel });
  }
  context.scratch.retain();
  const sizeCompiler = sizeCompilers && new sizeCompilers.SizeCompiler(symbolic, context);
  if (compile === 'on demand') sizeCompiler?.guessWhenIdle();
  let isDisposed = false;
  return {
    get: (name) => kernels.get(name),
    async tune(index, options = {}) {
      const { tuneKernel } = await import('../tuning/tune-kernel.ts');
      const kernel = [...kernels.values()][index];
      const tuned = kernel && (await tuneKernel(kernel, context, options));
      return { count: kernels.size, kernels: tuned ?? [] };
    },
    ...(sizeCompiler && { compileForSizes: (sizes) => sizeCompiler.compileForSizes(sizes) }),
    dispose() {
      if (isDisposed) return;
      isDisposed = true;
      sizeCompiler?.stop();
      for (const kernel of kernels.values()) kernel.dispose();
      kernels.clear();
      weights?.dispose();
      context.scratch.release();
    },
  };
}

interface Planning {
  readonly context: PrepareContext;
  readonly compilation: Compilation;
  readonly signal: AbortSignal | undefined;
  readonly boundSymbols: ReadonlySet<string> | undefined;
  readonly compile: CompileMode | undefined;
}

/**
 * Hands what is planned to the compiler at once, in the order of use: pipelines compile while the
 * rest is planned. A browser sends commands to its GPU process between tasks.
 */
async function planAll(
  primitives: readonly PrimitiveFunction[],
  planning: Planning,
): Promise<Preparation[]> {
  const { context, compilation, signal } = planning;
  const refusals = primitives.flatMap((primitive): Refusal[] => {
    const reason = context.planner.refusal(primitive);
    return reason === undefined ? [] : [{ primitive, reason }];
  });
  const isRefused = new Set(refusals.map(({ primitive }) => primitive));
  const preparations: Preparation[] = [];
  let begin = performance.now();
  for (const primitive of primitives) {
    if (isRefused.has(primitive)) continue;
    try {
      const preparation = await planOne(primitive, planning);
      preparations.push(preparation);
      if (refusals.length === 0) compilation.add(preparation.launches);
    } catch (error) {
      if (!(error instanceof WeftError)) throw error;
      refusals.push({ primitive, reason: error.message });
    }
    if (performance.now() - begin < PLANNING_SLICE_MS) continue;
    await macrotask();
    if (signal?.aborted === true) throw abortError(signal);
    begin = performance.now();
  }
  if (refusals.length > 0) {
    const { refused } = await import('./refused-kernels.ts');
    const { adapterName, planner } = context;
    const { operators } = planner;
    throw refused(refusals, { count: primitives.length, adapterName, operators });
  }
  return preparations;
}

async function planOne(
  primitive: PrimitiveFunction,
  { context, boundSymbols, compile }: Planning,
): Promise<Preparation> {
  const shapes = shapesOf(primitive);
  if (shapes !== undefined) {
    const plan = context.planner.plan(primitive, shapes);
    const launches = realLaunches(plan);
    return { primitive, fixed: { plan, shapes }, isBound: false, launches };
  }
  const { hasOnlySymbols, launchesOfAll, launchesOfSamples } = await import(
    './sampled-launches.ts'
  );
  const isBound = boundSymbols !== undefined && hasOnlySymbols(primitive, boundSymbols);
  const select = isBound && compile === 'on demand' ? launchesOfAll : launchesOfSamples;
  return { primitive, fixed: undefined, isBound, launches: select(primitive, context.planner) };
}

/** Compiles each text once, all at the same time. */
class Compilation {
  readonly #context: PrepareContext;
  readonly #options: PrepareOptions;
  readonly #work = new Map<string, Promise<void>>();
  readonly #compiled = new Map<string, CachedPipeline>();
  #isComplete = false;

  constructor(context: PrepareContext, options: PrepareOptions) {
    this.#context = context;
    this.#options = options;
  }

  add(launches: readonly Launch[]): void {
    for (const launch of launches) {
      if (this.#work.has(launch.code)) continue;
      const work = this.#compile(launch);
      // Planning may take a while yet, and fail by itself.
      work.catch(() => undefined);
      this.#work.set(launch.code, work);
    }
  }

  /** Call when everything is added. The pipelines by code. */
  async finish(): Promise<ReadonlyMap<string, CachedPipeline>> {
    this.#isComplete = true;
    this.#report();
    await untilAborted(Promise.all(this.#work.values()), this.#options.signal);
    return this.#compiled;
  }

  async #compile(launch: Launch): Promise<void> {
    const { owner } = this.#options;
    this.#compiled.set(launch.code, await this.#context.pipelines.compile(launch, owner));
    this.#report();
  }

  /** Before the end of planning the total is not known. */
  #report(): void {
    const { signal, onProgress } = this.#options;
    if (!this.#isComplete || signal?.aborted === true) return;
    onProgress?.(this.#compiled.size, this.#work.size);
  }
}

function makeKernel(
  { primitive, fixed, launches }: Preparation,
  compiled: ReadonlyMap<string, CachedPipeline>,
  context: PrepareContext,
): WebGpuKernel {
  const kernel = new WebGpuKernel(primitive, context);
  const pipelines = launches.flatMap(({ code }) => compiled.get(code) ?? []);
  if (fixed === undefined) {
    for (const pipeline of new Set(pipelines)) kernel.keep(pipeline);
  } else {
    const plan = kernel.setStaticPlan(fixed.plan, pipelines, fixed.shapes);
    // Only the first run can tell which memory will be idle.
    if (context.memory?.idle === undefined) context.scratch.reserve(plan.scratchByteLengths);
  }
  return kernel;
}
