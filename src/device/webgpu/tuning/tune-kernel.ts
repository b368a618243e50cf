import { checkOptions, having, type OptionKinds } from '../../../core/check-options.ts';
import { DeviceLostError, OutOfMemoryError } from '../../../core/errors.ts';
import type { LaunchPlan } from '../../../core/contracts/launch-plan.ts';
import type { PrimitiveFunction } from '../../../core/contracts/primitive-function.ts';
import type { KernelTuning, TunedChoice, TuneOptions, TuningTurns } from '../../device.ts';
import { realLaunches } from '../kernels/compiled-plan.ts';
import type { OperatorTable } from '../../../ops/operator.ts';
import type { CallShapes } from '../../../core/contracts/call-shapes.ts';
import type { ScratchPool } from '../memory/scratch-pool.ts';
import type { WebGpuKernel } from '../kernels/webgpu-kernel.ts';
import { type ChosenNames, NamedChoices } from './named-choices.ts';
import { TrialArguments, type TrialContext } from './plan-trial.ts';
import { planHash, TunedChoices } from './tuned-choices.ts';
import { ALL_AT_ONCE, hasVariants, type TunedPlan, tunePlan } from './tune-plan.ts';

/** How many shapes are tuned of a kernel with symbolic sizes: those of its latest calls. */
const MOST_SHAPES = 4;

/** The scratch that variants may take beyond that of the first choice: a part of what a call's tensors take. */
const MORE_SCRATCH = 1 / 10;
const LITTLE_SCRATCH = 1 << 18;

/**
 * In the background no kernel is tuned again that ended tuning so often: it may have lost the
 * device.
 */
const MOST_ATTEMPTS = 3;

const OPTIONS: OptionKinds<TuneOptions> = {
  signal: 'signal',
  turns: having('turns: idle() and take()', 'idle', 'take'),
  isBackground: 'boolean',
  remember: 'function',
  onChange: 'function',
};

interface TuningContext extends TrialContext {
  readonly scratch: ScratchPool;
}

/**
 * Tunes a kernel for the shapes that it has plans for, and gives it the plans that were chosen.
 * Nothing else may use the device meanwhile, but between turns. Rejects with DeviceLostError, the
 * signal's reason, or UsageError for what are no options.
 */
export async function tuneKernel(
  kernel: WebGpuKernel,
  context: TuningContext,
  options: TuneOptions,
): Promise<readonly KernelTuning[]> {
  checkOptions('tune', options, OPTIONS);
  const { planner } = context;
  const { operators } = planner;
  if (operators === undefined) return [];
  const reports: KernelTuning[] = [];
  for (const shapes of kernel.knownShapes().slice(0, MOST_SHAPES)) {
    const { primitive } = kernel;
    const plan = (chosen: ChosenNames): LaunchPlan =>
      planner.plan(primitive, shapes, new NamedChoices(chosen));
    if (!hasVariants(plan)) continue;
    const key = planHash(plan(new Map()));
    if (options.isBackground === true && isDone(choicesOf(context).find(key))) continue;
    const tuning: Tuning = { kernel, shapes, plan, key, context, options, operators };
    const tuned = await (options.isBackground === true ? tuneQuietly(tuning) : tune(tuning));
    if (tuned === undefined) continue;
    const choices = Object.fromEntries(tuned.choices);
    reports.push({ kernel: describe(primitive, shapes), ...tuned, choices });
  }
  return reports;
}

interface Tuning {
  readonly kernel: WebGpuKernel;
  readonly shapes: CallShapes;
  readonly plan: (chosen: ChosenNames) => LaunchPlan;
  /** Hash of the plan without choices. */
  readonly key: string;
  readonly context: TuningContext;
  readonly options: TuneOptions;
  readonly operators: OperatorTable;
}

function choicesOf({ planner }: TuningContext): TunedChoices {
  const { measured } = planner;
  const choices = measured instanceof TunedChoices ? measured : new TunedChoices();
  planner.measured = choices;
  return choices;
}

function isDone(known: TunedChoice | undefined): boolean {
  return known !== undefined && (known.attempts ?? MOST_ATTEMPTS) >= MOST_ATTEMPTS;
}

/** Notes that it began, for the case that the device or the page does not see its end. */
async function tuneQuietly(tuning: Tuning): Promise<TunedPlan | undefined> {
  const { key, context, options } = tuning;
  const choices = choicesOf(context);
  const { attempts = 0, ...known } = choices.find(key) ?? { plan: key, choices: {} };
  choices.set({ ...known, attempts: attempts + 1 });
  await options.remember?.();
  try {
    return await tune(tuning);
  } catch (error) {
    if (error instanceof DeviceLostError) throw error;
    if (error instanceof OutOfMemoryError) return undefined;
    choices.set({ ...known, attempts });
    await options.remember?.();
    throw error;
  }
}

async function tune(tuning: Tuning): Promise<TunedPlan> {
  const { kernel, shapes, plan, key, context, options, operators } = tuning;
  const { signal, turns = ALL_AT_ONCE } = options;
  const before = context.scratch.sizes();
  const args = new TrialArguments(kernel.primitive, shapes, {
    context,
    operators,
    prepacking: kernel.prepacking(shapes),
  });
  let tuned: TunedPlan;
  try {
    const prepare = (variant: LaunchPlan) => args.prepare(variant);
    const moreScratch = Math.max(LITTLE_SCRATCH, args.byteLength * MORE_SCRATCH);
    tuned = await tunePlan({ plan, prepare, turns, moreScratch, signal });
  } finally {
    args.dispose();
    // Memory that only trials took, or that could not be had.
    context.scratch.shrink(before);
  }
  const { choices } = tuned;
  const chosen = choices.size > 0 ? planHash(plan(choices)) : undefined;
  choicesOf(context).set({ plan: key, chosen, choices: Object.fromEntries(choices) });
  await takePlan(tuning, plan(choices), turns);
  return tuned;
}

async function takePlan(
  { kernel, shapes, context, options }: Tuning,
  plan: LaunchPlan,
  turns: TuningTurns,
): Promise<void> {
  const launches = realLaunches(plan);
  const compiled = await Promise.all(launches.map((launch) => context.pipelines.compile(launch)));
  await turns.take(async () => {
    kernel.replacePlan(plan, compiled, shapes);
    options.onChange?.();
  });
}

function describe({ name }: PrimitiveFunction, { params }: CallShapes): string {
  return `${name}(${params.map((shape) => `[${shape.join(', ')}]`).join(', ')})`;
}
