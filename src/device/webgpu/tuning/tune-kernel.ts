import type { PrimitiveFunction } from '../../../core/primitive-function.ts';
import type { KernelTuning } from '../../device.ts';
import { realLaunches } from '../compiled-plan.ts';
import type { CallShapes } from '../planner/plan.ts';
import type { WebGpuKernel } from '../webgpu-kernel.ts';
import { NamedChoices } from './named-choices.ts';
import { TrialArguments, type TrialParts } from './plan-trial.ts';
import { TunedChoices } from './tuned-choices.ts';
import { tunePlan } from './tune-plan.ts';

/** Of a kernel with symbolic sizes, those of its latest calls are tuned, so many. */
const MOST_SHAPES = 4;

export interface TuneKernelOptions {
  readonly parts: TrialParts;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Tunes a kernel for the shapes that it has plans for, and gives it the plans that were chosen.
 * Nothing else may use the device meanwhile. Rejects with DeviceLostError or the signal's reason.
 */
export async function tuneKernel(
  kernel: WebGpuKernel,
  { parts, signal }: TuneKernelOptions,
): Promise<readonly KernelTuning[]> {
  const { operators } = parts.planner;
  if (operators === undefined) return [];
  const reports: KernelTuning[] = [];
  for (const shapes of kernel.knownShapes().slice(0, MOST_SHAPES)) {
    const args = new TrialArguments(kernel.primitive, shapes, { parts, operators });
    try {
      const report = await tuneShapes(kernel, args, { parts, signal });
      if (report !== undefined) reports.push(report);
    } finally {
      args.dispose();
    }
  }
  return reports;
}

async function tuneShapes(
  kernel: WebGpuKernel,
  args: TrialArguments,
  { parts, signal }: TuneKernelOptions,
): Promise<KernelTuning | undefined> {
  const { planner, pipelines } = parts;
  const { primitive, shapes } = args;
  const tuned = await tunePlan({
    plan: (chosen) => planner.plan(primitive, shapes, new NamedChoices(chosen)),
    prepare: (plan) => args.prepare(plan),
    signal,
  });
  if (tuned === undefined) return undefined;
  const measured = planner.measured instanceof TunedChoices ? planner.measured : new TunedChoices();
  measured.set(planner.plan(primitive, shapes, new NamedChoices(new Map())), tuned.choices);
  planner.measured = measured;
  const plan = planner.plan(primitive, shapes);
  const launches = realLaunches(plan);
  const compiled = await Promise.all(launches.map((launch) => pipelines.compile(launch)));
  kernel.replacePlan(plan, compiled, shapes);
  return {
    kernel: describe(primitive, shapes),
    ...tuned,
    choices: Object.fromEntries(tuned.choices),
  };
}

function describe({ name }: PrimitiveFunction, { params }: CallShapes): string {
  return `${name}(${params.map((shape) => `[${shape.join(', ')}]`).join(', ')})`;
}
