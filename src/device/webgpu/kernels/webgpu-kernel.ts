import { storageByteLength } from '../../../core/tensor/dtype.ts';
import type { KernelSource } from '../../../core/contracts/kernel-source.ts';
import type { LaunchPlan } from '../../../core/contracts/launch-plan.ts';
import type { PrimitiveFunction } from '../../../core/contracts/primitive-function.ts';
import { elementCount } from '../../../core/tensor/shape.ts';
import type { DeviceTensor, Kernel } from '../../device.ts';
import { isSamePlace, overwrittenInput } from '../../overwritten-input.ts';
import type { CommandQueue, LaunchMemory } from '../command-queue.ts';
import {
  assemblePlan,
  type CompiledLaunch,
  type CompiledPlan,
  realLaunches,
  releasePlan,
} from './compiled-plan.ts';
import type { KernelPlanner } from './kernel-planner.ts';
import type { ParamArena } from '../memory/param-arena.ts';
import type { CachedPipeline, PipelineCache } from './pipeline-cache.ts';
import type { CallShapes } from '../../../core/contracts/call-shapes.ts';

/** Plans kept per kernel with symbolic shapes: enough for a loop over lengths or buckets. */
const KEPT_PLANS = 64;

export interface KernelContext {
  readonly planner: KernelPlanner;
  readonly queue: CommandQueue;
  readonly params: ParamArena;
  readonly pipelines: PipelineCache;
  /** The part that a program's kernels share. */
  readonly memory?: LaunchMemory | undefined;
}

interface KnownPlan {
  /** Ranks and dimensions of the arguments. */
  readonly dims: readonly number[];
  readonly compiled: CompiledPlan;
  readonly shapes: CallShapes;
}

/** Work that calls with some shapes find done. */
export interface Prepacking {
  /** Undefined before the first call. */
  readonly done: readonly CompiledLaunch[] | undefined;
}

/** A primitive function on a WebGPU device. */
export class WebGpuKernel implements Kernel {
  readonly name: string;
  readonly primitive: PrimitiveFunction;
  readonly overwrites: number | undefined;

  readonly #context: KernelContext;
  /** The plan for all calls, when the shapes are static. */
  #staticPlan: CompiledPlan | undefined;
  #staticShapes: CallShapes | undefined;
  /** Plans of recent calls, the one that was used last at the end. */
  #plans: KnownPlan[] = [];
  /** Compiled ahead for shapes that may come. */
  readonly #kept: CachedPipeline[] = [];

  constructor(primitive: PrimitiveFunction, context: KernelContext) {
    this.name = primitive.name;
    this.primitive = primitive;
    this.#context = context;
    const { operators } = context.planner;
    this.overwrites = operators && overwrittenInput(primitive, operators);
  }

  /** Sets the plan for all calls. `pipelines` are those of its launches, in order. */
  setStaticPlan(
    plan: LaunchPlan,
    pipelines: readonly CachedPipeline[],
    shapes: CallShapes,
  ): CompiledPlan {
    this.#staticShapes = shapes;
    this.#staticPlan = this.#assemble(plan, pipelines, shapes);
    return this.#staticPlan;
  }

  /** Holds on to a pipeline that later shapes may want. */
  keep(pipeline: CachedPipeline): void {
    if (this.#kept.includes(pipeline)) return;
    this.#context.pipelines.retain(pipeline);
    this.#kept.push(pipeline);
  }

  /** Returns true if there is a plan for calls with these shapes. */
  hasPlan({ params, results }: CallShapes): boolean {
    const args = [...params, ...results].map((shape) => ({ shape }));
    return this.#plans.some(({ dims }) => isFor(dims, args));
  }

  /** Adds the plan for calls with these shapes. `pipelines` are those of its launches, in order. */
  addPlan(
    plan: LaunchPlan,
    pipelines: readonly CachedPipeline[],
    shapes: CallShapes,
  ): CompiledPlan {
    const compiled = this.#assemble(plan, pipelines, shapes);
    const oldest = this.#plans.length >= KEPT_PLANS ? this.#plans.shift() : undefined;
    if (oldest !== undefined) releasePlan(oldest.compiled, this.#context);
    const all = [...shapes.params, ...shapes.results];
    const dims = all.flatMap((shape) => [shape.length, ...shape]);
    this.#plans.push({ dims, compiled, shapes });
    return compiled;
  }

  /** Shapes that there are plans for, those of the latest call first. */
  knownShapes(): CallShapes[] {
    const latest = this.#plans.map(({ shapes }) => shapes).reverse();
    return this.#staticShapes === undefined ? latest : [this.#staticShapes];
  }

  /** See {@link PrepackedWeights}; undefined where calls do everything themselves. */
  prepacking(shapes: CallShapes): Prepacking | undefined {
    const plan = this.#staticPlan ?? this.#plans.find((known) => known.shapes === shapes)?.compiled;
    const weights = this.#context.memory?.weights;
    return plan && weights && { done: weights.doneOf(plan) };
  }

  /** Takes another plan for known shapes. Recordings hold on to what they need of the one before. */
  replacePlan(
    plan: LaunchPlan,
    pipelines: readonly CachedPipeline[],
    shapes: CallShapes,
  ): CompiledPlan {
    const known = this.#plans.find((other) => other.shapes === shapes);
    const before = this.#staticPlan ?? known?.compiled;
    this.#plans = this.#plans.filter((other) => other !== known);
    const compiled =
      this.#staticPlan === undefined
        ? this.addPlan(plan, pipelines, shapes)
        : this.setStaticPlan(plan, pipelines, shapes);
    if (before !== undefined) releasePlan(before, this.#context);
    return compiled;
  }

  launch(args: readonly DeviceTensor[]): void {
    const plan = this.#staticPlan ?? this.#planFor(args);
    if (this.overwrites !== undefined) this.#begin(args[this.overwrites], args.at(-1));
    this.#context.queue.launch(plan, args, this.#context.memory);
  }

  /** The plan changes what the result holds: that is the input, wherever it lies. */
  #begin(input: DeviceTensor | undefined, result: DeviceTensor | undefined): void {
    if (input === undefined || result === undefined || isSamePlace(input, result)) return;
    const byteLength = storageByteLength(input.dtype, elementCount(input.shape));
    this.#context.queue.copy({ ...rangeOf(input), byteLength }, { ...rangeOf(result), byteLength });
  }

  async source(): Promise<KernelSource> {
    const { webGpuSource } = await import('./kernel-source.ts');
    return webGpuSource(this.primitive, this.knownShapes()[0], this.#context.planner);
  }

  dispose(): void {
    const plans = this.#plans.map(({ compiled }) => compiled);
    for (const plan of [this.#staticPlan, ...plans]) {
      if (plan !== undefined) releasePlan(plan, this.#context);
    }
    for (const pipeline of this.#kept) this.#context.pipelines.release(pipeline);
    this.#staticPlan = undefined;
    this.#plans = [];
    this.#kept.length = 0;
  }

  #planFor(args: readonly DeviceTensor[]): CompiledPlan {
    for (let i = this.#plans.length - 1; i >= 0; i--) {
      const known = this.#plans[i];
      if (known === undefined || !isFor(known.dims, args)) continue;
      if (i !== this.#plans.length - 1) {
        this.#plans.splice(i, 1);
        this.#plans.push(known);
      }
      return known.compiled;
    }
    return this.#planNow(args);
  }

  #planNow(args: readonly DeviceTensor[]): CompiledPlan {
    const { planner, pipelines } = this.#context;
    const { params } = this.primitive;
    const shapes = args.map(({ shape }) => shape);
    const callShapes = {
      params: shapes.slice(0, params.length),
      results: shapes.slice(params.length),
    };
    const plan = planner.plan(this.primitive, callShapes);
    const compiled = realLaunches(plan).map((launch) => pipelines.compileNow(launch));
    return this.addPlan(plan, compiled, callShapes);
  }

  #assemble(
    plan: LaunchPlan,
    pipelines: readonly CachedPipeline[],
    { params, results }: CallShapes,
  ): CompiledPlan {
    return assemblePlan(plan, pipelines, {
      primitive: this.primitive,
      shapes: [...params, ...results],
      ...this.#context,
    });
  }
}

function rangeOf({ buffer, byteOffset }: DeviceTensor) {
  return { buffer, byteOffset };
}

function isFor(dims: readonly number[], args: readonly Pick<DeviceTensor, 'shape'>[]): boolean {
  let position = 0;
  for (const { shape } of args) {
    if (dims[position] !== shape.length) return false;
    position++;
    for (const dim of shape) {
      if (dims[position] !== dim) return false;
      position++;
    }
  }
  return position === dims.length;
}
