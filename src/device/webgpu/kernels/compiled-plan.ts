import { storageByteLength } from '../../../core/tensor/dtype.ts';
import { internalError } from '../../../core/errors.ts';
import type { Launch, LaunchPlan } from '../../../core/contracts/launch-plan.ts';
import type { PrimitiveFunction } from '../../../core/contracts/primitive-function.ts';
import { elementCount, type Shape } from '../../../core/tensor/shape.ts';
import type { LaunchOwner } from '../../device.ts';
import { roundUpToGranule } from '../memory/buffers.ts';
import type { ParamArena, ParamSlot } from '../memory/param-arena.ts';
import type { CachedPipeline, PipelineCache } from './pipeline-cache.ts';

/** A launch plan with its pipelines and parameters in place: launching it computes nothing. */
export interface CompiledPlan {
  readonly launches: readonly CompiledLaunch[];
  readonly scratchByteLengths: readonly number[];
  /** True if some launch may be done once for all calls. */
  readonly mayPrepack: boolean;
}

export interface CompiledLaunch {
  readonly owner: LaunchOwner | undefined;
  readonly primitive: string;
  readonly label: string;
  readonly pipeline: CachedPipeline;
  readonly params: ParamSlot | undefined;
  readonly workgroups: readonly [number, number, number];
  readonly bindings: readonly CompiledBinding[];
  readonly byteLengths: readonly number[];
  /**
   * True if other calls have other lengths. Then each binding reaches to the end of its buffer, so
   * that another length needs no other bind group.
   */
  readonly hasManySizes: boolean;
  readonly writes: readonly boolean[];
  /**
   * True if all calls with the same constants compute the same here: the launch reads only
   * parameters of the primitive and scratch, and writes only scratch that no other launch writes.
   */
  readonly prepacks: boolean;
}

interface CompiledBinding {
  readonly kind: 'argument' | 'scratch' | 'empty';
  readonly index: number;
}

/** The buffer to bind where a tensor has no elements, since WebGPU binds no empty range. */
const EMPTY: CompiledBinding = { kind: 'empty', index: 0 };

export function realLaunches(plan: LaunchPlan): readonly Launch[] {
  return plan.launches.filter(({ workgroups }) => workgroups.every((count) => count > 0));
}

/** Puts parameters into GPU memory. `pipelines` are those of {@link realLaunches}, in order. */
export function assemblePlan(
  plan: LaunchPlan,
  pipelines: readonly CachedPipeline[],
  context: PlanContext,
): CompiledPlan {
  const real = realLaunches(plan);
  const launches = real.map((launch, i) => {
    const pipeline = pipelines[i];
    if (pipeline === undefined) throw internalError(`${launch.label} has no pipeline`);
    context.pipelines.retain(pipeline);
    return assembleLaunch(launch, pipeline, {
      ...context,
      plan,
      prepacks: prepacks(launch, real, context),
    });
  });
  const mayPrepack = launches.some((launch) => launch.prepacks);
  const scratchByteLengths = bySize(plan).map((index) => plan.scratchByteLengths[index] ?? 0);
  return { launches, scratchByteLengths, mayPrepack };
}

/**
 * Scratch, the largest first. All plans share buffers by position, so that this order takes the
 * fewest bytes.
 */
function bySize({ scratchByteLengths: lengths }: LaunchPlan): readonly number[] {
  return [...lengths.keys()].sort((a, b) => (lengths[b] ?? 0) - (lengths[a] ?? 0));
}

function prepacks(launch: Launch, all: readonly Launch[], { primitive }: PlanContext): boolean {
  const written = launch.bindings.filter(({ access }) => access === 'read_write');
  const read = launch.bindings.filter(({ access }) => access === 'read');
  return (
    written.length > 0 &&
    written.every(
      ({ buffer }) =>
        buffer.kind === 'scratch' &&
        all.every((other) => other === launch || !writesScratch(other, buffer.index)),
    ) &&
    read.some(({ buffer }) => buffer.kind === 'argument') &&
    read.every(({ buffer }) => buffer.kind === 'scratch' || buffer.index < primitive.params.length)
  );
}

/** Returns true if a launch writes scratch `index`; without an index, any scratch. */
export function writesScratch({ bindings }: Launch, index?: number): boolean {
  return bindings.some(
    ({ buffer, access }) =>
      access === 'read_write' &&
      buffer.kind === 'scratch' &&
      (index ?? buffer.index) === buffer.index,
  );
}

export function releasePlan(plan: CompiledPlan, context: PlanStores): void {
  for (const { pipeline, params } of plan.launches) {
    context.pipelines.release(pipeline);
    if (params !== undefined) context.params.release(params);
  }
}

interface PlanStores {
  readonly pipelines: PipelineCache;
  readonly params: ParamArena;
}

interface PlanContext extends PlanStores {
  readonly primitive: PrimitiveFunction;
  readonly memory?: { readonly owner?: LaunchOwner | undefined } | undefined;
  /** Shapes of parameters, then results. */
  readonly shapes: readonly Shape[];
}

function assembleLaunch(
  launch: Launch,
  pipeline: CachedPipeline,
  context: PlanContext & { readonly plan: LaunchPlan; readonly prepacks: boolean },
): CompiledLaunch {
  const byteLengths = launch.bindings.map(({ buffer }) =>
    buffer.kind === 'argument'
      ? argumentByteLength(context, buffer.index)
      : (context.plan.scratchByteLengths[buffer.index] ?? 0),
  );
  const order = bySize(context.plan);
  const placed = ({ kind, index }: CompiledBinding): CompiledBinding =>
    kind === 'scratch' ? { kind, index: order.indexOf(index) } : { kind, index };
  return {
    owner: context.memory?.owner,
    primitive: context.primitive.name,
    label: launch.label,
    pipeline,
    params: launch.params.length === 0 ? undefined : context.params.acquire(launch.params),
    workgroups: launch.workgroups,
    bindings: launch.bindings.map(({ buffer }, i) =>
      byteLengths[i] === 0 ? EMPTY : placed(buffer),
    ),
    byteLengths: byteLengths.map(roundUpToGranule),
    hasManySizes: hasSymbols(context.primitive),
    writes: launch.bindings.map(({ access }) => access === 'read_write'),
    prepacks: context.prepacks,
  };
}

function hasSymbols({ params, results }: PrimitiveFunction): boolean {
  const types = [...params, ...results.map(({ type }) => type)];
  return types.some(({ shape }) => shape.some((dim) => typeof dim !== 'number'));
}

function argumentByteLength({ primitive, shapes }: PlanContext, index: number): number {
  const { params, results } = primitive;
  const type = params[index] ?? results[index - params.length]?.type;
  const shape = shapes[index];
  if (type === undefined || shape === undefined) {
    throw internalError(`a plan of ${primitive.name} binds argument ${index}, which it has not`);
  }
  return storageByteLength(type.dtype, elementCount(shape));
}
