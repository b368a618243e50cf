import { expect, test } from 'vitest';
import type { LaunchPlan } from '../../../core/contracts/launch-plan.ts';
import type { PrimitiveFunction } from '../../../core/contracts/primitive-function.ts';
import { CORE_OPERATORS } from '../../../ops/tables/core-operators.ts';
import { plannerCaps } from '../../../testing/planner-caps.ts';
import type { CompiledLaunch, CompiledPlan } from '../kernels/compiled-plan.ts';
import { kernelPlanner } from '../kernels/kernel-planner.ts';
import type { Prepacking } from '../kernels/webgpu-kernel.ts';
import { NamedChoices } from './named-choices.ts';
import { TrialArguments, type TrialContext } from './plan-trial.ts';

const CONVOLUTION: PrimitiveFunction = {
  name: 'convolution',
  params: [
    { dtype: 'float32', shape: [1, 64, 16, 16] },
    { dtype: 'float32', shape: [64, 64, 3, 3] },
  ],
  body: [
    {
      op: 'conv2d',
      inputs: [0, 1],
      attributes: { strides: [1, 1], pads: [1, 1, 1, 1], dilations: [1, 1], groups: 1 },
    },
  ],
  results: [{ value: 2, type: { dtype: 'float32', shape: [1, 64, 16, 16] } }],
};
const SHAPES = {
  params: [
    [1, 64, 16, 16],
    [64, 64, 3, 3],
  ],
  results: [[1, 64, 16, 16]],
};
const PLANNER = kernelPlanner(plannerCaps('software'), CORE_OPERATORS);

function planOf(choices: Readonly<Record<string, string>>): LaunchPlan {
  const chosen = new NamedChoices(new Map(Object.entries(choices)));
  return PLANNER.plan(CONVOLUTION, SHAPES, chosen);
}

/** The launches while a plan is measured, behind the default. */
async function measured(
  plan: LaunchPlan,
  prepacking: Prepacking | undefined,
): Promise<readonly CompiledPlan[]> {
  const launched: CompiledPlan[] = [];
  const slot = (words: Uint32Array) => ({ key: words.join() });
  const context = {
    device: {
      createBuffer: () => ({ destroy: () => undefined }),
      write: () => undefined,
      synchronize: async () => undefined,
    },
    queue: { launch: (launch: CompiledPlan) => void launched.push(launch) },
    pipelines: {
      compile: async ({ code }: { code: string }) => ({ key: code }),
      retain: () => undefined,
      release: () => undefined,
    },
    params: { acquire: slot, release: () => undefined },
  } as unknown as TrialContext;
  const args = new TrialArguments(CONVOLUTION, SHAPES, {
    context,
    operators: CORE_OPERATORS,
    prepacking,
  });
  await args.prepare(planOf({}));
  await (await args.prepare(plan)).measure();
  return launched;
}

const labels = (plan: CompiledPlan | undefined): readonly string[] =>
  plan?.launches.map(({ label }) => label) ?? [];

const ALL = ['winograd-weights', 'winograd-image', 'matmul-tile', 'winograd-output'];
const PRODUCT = 'matmul 64x16x64, 36';
const CONV = 'convolution 3x3 of 64 to 64 by 1, 1 of 16x16';

test('without memory for weights all launches are timed', async () => {
  const launched = await measured(planOf({}), undefined);
  expect(new Set(launched.map((plan) => labels(plan).join()))).toEqual(new Set([ALL.join()]));
});

test('what calls find done is not timed, and is there before the time is taken', async () => {
  const prepacking: Prepacking = { done: undefined };
  const launched = await measured(planOf({}), prepacking);
  expect(labels(launched[0])).toEqual(ALL);
  expect(labels(launched.at(-1))).toEqual(ALL.slice(1));
});

test('of another variant only what is the very same is known to be done', async () => {
  const last = async (choices: Readonly<Record<string, string>>) =>
    labels((await measured(planOf(choices), { done: undefined })).at(-1));
  expect(await last({ [PRODUCT]: '4 rows of 4' })).toEqual(ALL.slice(1));
  expect(await last({ [CONV]: 'columns' })).toEqual(['conv2d-columns', 'matmul-tile']);
});

test('what calls have not found done is timed', async () => {
  const launched = await measured(planOf({}), { done: [] });
  expect(labels(launched.at(-1))).toEqual(ALL);
  const weights = labelled(launched.at(-1), 'winograd-weights');
  const done = await measured(planOf({}), { done: weights });
  expect(labels(done.at(-1))).toEqual(ALL.slice(1));
});

function labelled(plan: CompiledPlan | undefined, name: string): readonly CompiledLaunch[] {
  return plan?.launches.filter(({ label }) => label === name) ?? [];
}
