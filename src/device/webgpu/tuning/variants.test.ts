import { beforeAll, describe, expect, test } from 'vitest';
import { type Gpu, openGpu } from '../../../../bench/kernels/open-gpu.ts';
import { preparePlan, readBuffer, storageBuffer } from '../../../../bench/kernels/prepare-plan.ts';
import { HostTensor } from '../../../core/host-tensor.ts';
import type { LaunchPlan, PlannerCaps } from '../../../core/launch-plan.ts';
import type { Attributes, PrimitiveFunction } from '../../../core/primitive-function.ts';
import type { Shape } from '../../../core/shape.ts';
import { inferConcreteCall } from '../../../ops/infer-concrete-call.ts';
import { opDefinition, OPS } from '../../../ops/registry.ts';
import { firstDifference } from '../../../testing/all-close.ts';
import { randomTensor } from '../../../testing/random-tensor.ts';
import { kernelPlanner } from '../kernel-planner.ts';
import { type ChosenNames, NamedChoices } from './named-choices.ts';
import { planHash, TunedChoices } from './tuned-choices.ts';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openGpu();
});

interface Call {
  readonly op: string;
  readonly shapes: readonly Shape[];
  readonly attributes?: Attributes;
}

const CALLS: readonly Call[] = [
  {
    op: 'matmul',
    shapes: [
      [1, 131],
      [131, 70],
    ],
  },
  {
    op: 'matmul',
    shapes: [
      [3, 65],
      [65, 17],
    ],
  },
  {
    op: 'matmul',
    shapes: [
      [5, 128],
      [128, 68],
    ],
  },
  {
    op: 'matmul',
    shapes: [
      [2, 17, 63],
      [2, 63, 65],
    ],
  },
  {
    op: 'gemm',
    shapes: [
      [516, 36],
      [40, 516],
      [36, 1],
    ],
    attributes: { alpha: 0.5, beta: 2, trans_a: true, trans_b: true },
  },
  { op: 'reduce_sum', shapes: [[3, 1028]], attributes: { axes: [1] } },
  { op: 'reduce_sum', shapes: [[5, 517, 3]], attributes: { axes: [0, 2] } },
  { op: 'reduce_max', shapes: [[1025, 8]], attributes: { axes: [0] } },
  { op: 'reduce_mean', shapes: [[2, 65, 67]], attributes: {} },
];

const CLASSES = ['software', 'integrated', 'discrete'] as const;

function prepare({ op: name, shapes, attributes = {} }: Call) {
  const op = opDefinition(name);
  const inputs = shapes.map((shape, i) => randomTensor(shape, i + 1));
  const call = inferConcreteCall(op, inputs, attributes);
  const primitive: PrimitiveFunction = {
    name,
    params: inputs,
    body: [{ op: name, inputs: inputs.map((_, i) => i), attributes: call.attributes }],
    results: [{ value: inputs.length, type: call.output }],
  };
  const expected = HostTensor.zeros('float32', call.output.shape);
  op.reference(inputs, call.attributes, expected);
  return {
    op,
    inputs,
    primitive,
    expected,
    shapes: { params: shapes, results: [call.output.shape] },
  };
}

/** Every single choice that planning offers. */
function choicesOf(plan: (chosen: ChosenNames) => LaunchPlan): Map<string, string>[] {
  const all: Map<string, string>[] = [];
  plan({
    get(place, names) {
      all.push(...names.map((name) => new Map([[place, name]])));
      return undefined;
    },
  });
  return all;
}

describe.each(CLASSES)('%s', (adapterClass) => {
  test.each(CALLS.map((call) => [`${call.op} ${JSON.stringify(call.shapes)}`, call] as const))(
    'every variant of %s computes what the operator means',
    async (_, call) => {
      const { op, inputs, primitive, expected, shapes } = prepare(call);
      const planner = kernelPlanner({ ...gpu.caps, adapterClass }, OPS);
      const plans = new Map<string, LaunchPlan>();
      for (const choices of choicesOf((given) =>
        planner.plan(primitive, shapes, new NamedChoices(given)),
      )) {
        const plan = planner.plan(primitive, shapes, new NamedChoices(choices));
        plans.set(planHash(plan), plan);
      }
      expect(plans.size).toBeGreaterThan(0);
      const count = expected.elements.length;
      for (const plan of plans.values()) {
        const result = storageBuffer(gpu, new Float32Array(count));
        const buffers = inputs.map(({ data }) =>
          storageBuffer(gpu, Float32Array.from(data, Number)),
        );
        await (await preparePlan(gpu, plan, [...buffers, result])).run();
        const values = new Float32Array(await readBuffer(gpu, result), 0, count);
        const actual = new HostTensor('float32', expected.shape, values);
        expect(firstDifference(actual, expected, op.tolerance)).toBeUndefined();
      }
    },
    120_000,
  );
});

test('choices apply to the plan that they were measured for, and to no other', () => {
  const caps: PlannerCaps = { ...gpu.caps, adapterClass: 'software' };
  const planner = kernelPlanner(caps, OPS);
  const { primitive, shapes } = prepare({
    op: 'matmul',
    shapes: [
      [16, 64],
      [64, 64],
    ],
  });
  const first = planner.plan(primitive, shapes);
  const [choices] = choicesOf((given) =>
    planner.plan(primitive, shapes, new NamedChoices(given)),
  ).filter(
    (given) =>
      planHash(planner.plan(primitive, shapes, new NamedChoices(given))) !== planHash(first),
  );
  if (choices === undefined) throw new Error('a product has one variant only');
  const measured = new TunedChoices();
  measured.set(first, choices);
  // As they come back from a store.
  planner.measured = new TunedChoices(structuredClone(measured.entries()));
  const chosen = planner.plan(primitive, shapes);
  expect(planHash(chosen)).toBe(
    planHash(planner.plan(primitive, shapes, new NamedChoices(choices))),
  );
  expect(planHash(chosen)).not.toBe(planHash(first));
  const other = prepare({
    op: 'matmul',
    shapes: [
      [16, 68],
      [68, 64],
    ],
  });
  const untouched = kernelPlanner(caps, OPS).plan(other.primitive, other.shapes);
  expect(planner.plan(other.primitive, other.shapes)).toEqual(untouched);
  measured.set(first, new Map());
  expect(measured.entries()).toEqual([]);
});
