import { formatDim } from '../../core/dim.ts';
import { abortError, UnsupportedError, WeftError } from '../../core/errors.ts';
import type { Launch, LaunchPlan } from '../../core/launch-plan.ts';
import type { PrimitiveFunction } from '../../core/primitive-function.ts';
import { untilAborted } from '../../core/until-aborted.ts';
import type { PreparedKernels, PrepareOptions } from '../device.ts';
import { realLaunches } from './compiled-plan.ts';
import type { CachedPipeline } from './pipeline-cache.ts';
import type { CallShapes } from './planner/plan.ts';
import { representativeShapes, staticShapes } from './representative-shapes.ts';
import type { ScratchPool } from './scratch-pool.ts';
import { type KernelParts, WebGpuKernel } from './webgpu-kernel.ts';

export interface PrepareParts extends KernelParts {
  readonly scratch: ScratchPool;
  readonly adapterName: string;
}

/** What is to be compiled for one primitive. */
interface Preparation {
  readonly primitive: PrimitiveFunction;
  /** The one plan of a primitive with static shapes. */
  readonly fixed: { readonly plan: LaunchPlan; readonly shapes: CallShapes } | undefined;
  /** Everything to compile, for symbolic shapes a sample. */
  readonly launches: readonly Launch[];
}

/** Plans and compiles `primitives`; see {@link Device.prepare}. */
export async function prepareKernels(
  primitives: readonly PrimitiveFunction[],
  parts: PrepareParts,
  { signal, onProgress }: PrepareOptions,
): Promise<PreparedKernels> {
  if (signal?.aborted) throw abortError(signal);
  const preparations = planAll(primitives, parts);
  const pipelines = await compileAll(preparations, parts, { signal, onProgress });
  const kernels = new Map<string, WebGpuKernel>();
  for (const preparation of preparations) {
    kernels.set(preparation.primitive.name, makeKernel(preparation, pipelines, parts));
  }
  parts.scratch.retain();
  let isDisposed = false;
  return {
    get: (name) => kernels.get(name),
    dispose() {
      if (isDisposed) return;
      isDisposed = true;
      for (const kernel of kernels.values()) kernel.dispose();
      kernels.clear();
      parts.scratch.release();
    },
  };
}

function planAll(primitives: readonly PrimitiveFunction[], parts: PrepareParts): Preparation[] {
  const refusals: { readonly primitive: PrimitiveFunction; readonly reason: string }[] = [];
  const preparations: Preparation[] = [];
  for (const primitive of primitives) {
    const reason = parts.planner.refusal(primitive);
    if (reason !== undefined) {
      refusals.push({ primitive, reason });
      continue;
    }
    try {
      preparations.push(planOne(primitive, parts));
    } catch (error) {
      if (!(error instanceof WeftError)) throw error;
      refusals.push({ primitive, reason: error.message });
    }
  }
  if (refusals.length === 0) return preparations;
  const lines = refusals.map(({ primitive, reason }) => `  ${signatureOf(primitive)}: ${reason}`);
  throw new UnsupportedError(
    `WebGPU (${parts.adapterName}) cannot run ${refusals.length} of ${primitives.length} kernels:\n` +
      `${lines.join('\n')}\nCompile the program so that they run on the host device.`,
    { details: { primitives: refusals.map(({ primitive }) => primitive.name) } },
  );
}

function planOne(primitive: PrimitiveFunction, { planner }: PrepareParts): Preparation {
  const shapes = staticShapes(primitive);
  if (shapes !== undefined) {
    const plan = planner.plan(primitive, shapes);
    return { primitive, fixed: { plan, shapes }, launches: realLaunches(plan) };
  }
  const launchesFor = (samples: readonly CallShapes[]): Launch[] =>
    samples.flatMap((sample) => {
      try {
        return realLaunches(planner.plan(primitive, sample));
      } catch (error) {
        // Dimensions that were made up need not fit each other; those that come will.
        if (error instanceof WeftError) return [];
        throw error;
      }
    });
  const sampled = launchesFor(representativeShapes(primitive));
  const differing = representativeShapes(primitive, { differing: true });
  const launches = sampled.length > 0 ? sampled : launchesFor(differing);
  return { primitive, fixed: undefined, launches };
}

/** Compiles each text once, all at the same time. */
async function compileAll(
  preparations: readonly Preparation[],
  { pipelines }: PrepareParts,
  { signal, onProgress }: PrepareOptions,
): Promise<ReadonlyMap<string, CachedPipeline>> {
  const launches = new Map<string, Launch>();
  for (const launch of preparations.flatMap((preparation) => preparation.launches)) {
    launches.set(launch.code, launch);
  }
  let done = 0;
  onProgress?.(done, launches.size);
  const compiled = new Map<string, CachedPipeline>();
  const work = Array.from(launches.values(), async (launch) => {
    compiled.set(launch.code, await pipelines.compile(launch));
    done++;
    if (!signal?.aborted) onProgress?.(done, launches.size);
  });
  await untilAborted(Promise.all(work), signal);
  return compiled;
}

function makeKernel(
  { primitive, fixed, launches }: Preparation,
  compiled: ReadonlyMap<string, CachedPipeline>,
  parts: PrepareParts,
): WebGpuKernel {
  const kernel = new WebGpuKernel(primitive, parts);
  const pipelines = launches.flatMap(({ code }) => compiled.get(code) ?? []);
  if (fixed === undefined) {
    for (const pipeline of new Set(pipelines)) kernel.keep(pipeline);
  } else {
    const plan = kernel.setStaticPlan(fixed.plan, pipelines, fixed.shapes);
    parts.scratch.reserve(plan.scratchByteLengths);
  }
  return kernel;
}

function signatureOf({ name, params }: PrimitiveFunction): string {
  const types = params.map(({ dtype, shape }) => `${dtype}[${shape.map(formatDim).join(', ')}]`);
  return `${name}(${types.join(', ')})`;
}
