import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { AdapterClass, LaunchPlan, PlannerCaps } from '../../../core/contracts/launch-plan.ts';
import type { Attributes, PrimitiveFunction } from '../../../core/contracts/primitive-function.ts';
import { elementCount, type Shape } from '../../../core/tensor/shape.ts';
import { inferConcreteCall } from '../../../ops/infer-concrete-call.ts';
import { callReference } from '../../../ops/testing/call-reference.ts';
import { CORE_OPERATORS } from '../../../ops/tables/core-operators.ts';
import { firstDifference } from '../../../core/tensor/all-close.ts';
import { nodeGpu } from '../../../testing/node-gpu.ts';
import { randomTensor } from '../../../testing/random-tensor.ts';
import type { Device } from '../../device.ts';
import { TESTED_CLASSES } from '../../testing/node-devices.ts';
import { openAdapter } from '../adapter.ts';
import { kernelPlanner } from '../kernels/kernel-planner.ts';
import { floatBuffer, floatTensor, readFloats } from '../testing/test-device.ts';
import { WebGpuDevice } from '../webgpu-device.ts';
import { type ChosenNames, NamedChoices } from './named-choices.ts';
import { planHash, TunedChoices } from './tuned-choices.ts';

let caps: PlannerCaps;
/** Runs `planned`, and compiles each shader once. */
let device: Device;
let planned: LaunchPlan;
/** Plans of each call that were compared already: classes of adapters share many. */
const compared = new Map<Call, Set<string>>();
beforeAll(async () => {
  const opened = await openAdapter({ gpu: await nodeGpu() });
  caps = opened.caps;
  // On a busy machine a large tile may compile for more than the default.
  const patience = { deviceTimeout: 600_000 };
  device = new WebGpuDevice(opened, { refusal: () => undefined, plan: () => planned }, patience);
});
afterAll(() => device.destroy());

interface Call {
  readonly op: string;
  readonly shapes: readonly Shape[];
  readonly attributes?: Attributes;
  /** Tries all tiles of products inside of others; these take seconds to compile. */
  readonly tiles?: boolean;
  /** Classes of adapters to try. Default: all. */
  readonly classes?: readonly AdapterClass[];
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
  {
    ...conv([2, 17, 17, 15], [33, 17, 3, 3], { pads: [1, 1, 1, 1] }),
    classes: ['software', 'discrete'],
  },
  {
    ...conv([1, 8, 21, 19], [130, 8, 3, 3], { pads: [0, 1, 2, 0] }),
    classes: ['software', 'integrated'],
  },
  conv([1, 3, 13, 11], [5, 3, 5, 5], { strides: [2, 1], dilations: [1, 2] }),
  conv([2, 6, 9, 13], [10, 3, 3, 3], { groups: 2, strides: [1, 2] }),
  {
    ...conv([1, 9, 17, 17], [65, 9, 1, 1], { strides: [2, 2] }),
    tiles: true,
    classes: ['software', 'discrete'],
  },
  conv([1, 4, 9, 30], [3, 4, 1, 13], { pads: [0, 6, 0, 6] }),
  conv([2, 5, 17, 63], [5, 1, 3, 3], { groups: 5, pads: [1, 1, 1, 1] }),
  conv([1, 5, 18, 20], [10, 1, 3, 5], { groups: 5, strides: [2, 1], dilations: [1, 2] }),
  conv([1, 3, 1, 33], [3, 1, 1, 4], { groups: 3, pads: [0, 3, 0, 0] }),
  { op: 'max_pool', shapes: [[2, 3, 17, 65]], attributes: { kernel: [3, 3], strides: [2, 2] } },
  {
    op: 'avg_pool',
    shapes: [[1, 3, 9, 63]],
    attributes: { kernel: [3, 2], pads: [1, 0, 1, 1] },
  },
  { op: 'softmax', shapes: [[3, 65, 5]], attributes: { axis: 1 } },
  { op: 'log_softmax', shapes: [[5, 1028]] },
  { op: 'layer_norm', shapes: [[17, 129]] },
  { op: 'rms_norm', shapes: [[70, 63]] },
  attention([2, 4, 17, 24], [2, 2, 261, 24], 20),
  attention([1, 3, 1, 65], [1, 1, 600, 65], 63),
];

function conv(x: Shape, w: Shape, attributes: Attributes = {}): Call {
  return { op: 'conv2d', shapes: [x, w, w.slice(0, 1)], attributes };
}

function attention(query: Shape, key: Shape, valueSize: number): Call {
  const shapes = [query, key, [...key.slice(0, 3), valueSize]];
  return { op: 'scaled_dot_product_attention', shapes, attributes: { scale: 0.125 } };
}

function prepare({ op: name, shapes, attributes = {} }: Call) {
  const op = CORE_OPERATORS.require(name);
  // Weights as large as trained ones, so that sums are no larger than their terms.
  const inputs = shapes.map((shape, i) => {
    const elements = Float32Array.from(randomTensor(shape, i + 1).data, Number);
    const isKernel = name === 'conv2d' && i === 1;
    const scale = isKernel ? elementCount(shape.slice(1)) ** -0.5 : 1;
    return HostTensor.from(
      'float32',
      shape,
      elements.map((x) => x * scale),
    );
  });
  const call = inferConcreteCall(op, inputs, attributes);
  const primitive: PrimitiveFunction = {
    name,
    params: inputs,
    body: [{ op: name, inputs: inputs.map((_, i) => i), attributes: call.attributes }],
    results: [{ value: inputs.length, type: call.output }],
  };
  const expected = callReference(name, inputs, call.attributes);
  return {
    op,
    inputs,
    primitive,
    expected,
    shapes: { params: shapes, results: [call.output.shape] },
  };
}

/**
 * Every single choice that planning offers. Products have calls of their own: of those inside of others
 * one variant, unless all `tiles` are wanted.
 */
function choicesOf(
  plan: (chosen: ChosenNames) => LaunchPlan,
  { tiles = false }: Pick<Call, 'tiles'> = {},
): Map<string, string>[] {
  const offered = (given: ReadonlyMap<string, string>) => {
    const places: [string, readonly string[]][] = [];
    plan({
      get(place, names) {
        places.push([place, names]);
        return given.get(place);
      },
    });
    return places;
  };
  const places = offered(new Map());
  const isInside = (place: string) =>
    place.startsWith('matmul') && places.some(([other]) => !other.startsWith('matmul'));
  const few = (place: string, names: readonly string[]) =>
    isInside(place) && !tiles ? names.slice(-1) : names;
  return places.flatMap(([place, names]) =>
    few(place, names).flatMap((name) => {
      const given = new Map([[place, name]]);
      if (name !== 'gathered') return [given];
      const inside = offered(given).filter(([other]) => isInside(other));
      return inside.flatMap(([other, all]) =>
        few(other, all).map((tile) => new Map(given).set(other, tile)),
      );
    }),
  );
}

describe.each(TESTED_CLASSES)('%s', (adapterClass) => {
  const calls = CALLS.filter(({ classes = TESTED_CLASSES }) => classes.includes(adapterClass));
  test.each(calls.map((call) => [`${call.op} ${JSON.stringify(call.shapes)}`, call] as const))(
    'every variant of %s computes what the operator means',
    async (_, call) => {
      const { op, inputs, primitive, expected, shapes } = prepare(call);
      const planner = kernelPlanner({ ...caps, adapterClass }, CORE_OPERATORS);
      const plans = new Map<string, LaunchPlan>();
      for (const choices of choicesOf(
        (given) => planner.plan(primitive, shapes, new NamedChoices(given)),
        call,
      )) {
        const plan = planner.plan(primitive, shapes, new NamedChoices(choices));
        plans.set(planHash(plan), plan);
      }
      expect(plans.size).toBeGreaterThan(0);
      const args = inputs.map((tensor) => {
        const buffer = floatBuffer(device, Array.from(tensor.data, Number));
        return floatTensor(buffer, tensor.shape);
      });
      const known = compared.get(call) ?? new Set();
      compared.set(call, known);
      for (const [hash, plan] of plans) {
        if (known.has(hash)) continue;
        known.add(hash);
        planned = plan;
        const kernels = await device.prepare([primitive]);
        const result = device.createBuffer(expected.elements.length * 4);
        kernels.get(primitive.name)?.launch([...args, floatTensor(result, expected.shape)]);
        const values = Float32Array.from(await readFloats(device, result));
        const actual = new HostTensor('float32', expected.shape, values);
        expect(firstDifference(actual, expected, op.tolerance)).toBeUndefined();
        result.destroy();
        kernels.dispose();
      }
      for (const { buffer } of args) buffer.destroy();
    },
    120_000,
  );
});

test('choices apply to the plan that they were measured for, and to no other', () => {
  const software: PlannerCaps = { ...caps, adapterClass: 'software' };
  const planner = kernelPlanner(software, CORE_OPERATORS);
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
  const best = planner.plan(primitive, shapes, new NamedChoices(choices));
  const entry = {
    plan: planHash(first),
    chosen: planHash(best),
    choices: Object.fromEntries(choices),
  };
  const measured = new TunedChoices();
  measured.set(entry);
  // As they come back from a store.
  planner.measured = new TunedChoices(structuredClone(measured.entries()));
  expect(planner.plan(primitive, shapes)).toEqual(best);
  expect(planHash(best)).not.toBe(planHash(first));
  const other = prepare({
    op: 'matmul',
    shapes: [
      [16, 68],
      [68, 64],
    ],
  });
  const untouched = kernelPlanner(software, CORE_OPERATORS).plan(other.primitive, other.shapes);
  expect(planner.plan(other.primitive, other.shapes)).toEqual(untouched);
  for (const [why, stale] of [
    ['a kernel of another version', { ...entry, chosen: '0123456789abcdef' }],
    ['names that there are no more', { ...entry, choices: { 'matmul 1x1x1, 1': 'tile of 7' } }],
    ['what was stored before plans were recorded', { ...entry, chosen: undefined }],
    ['the default as the fastest', { plan: entry.plan, choices: {} }],
  ] as const) {
    planner.measured = new TunedChoices([stale]);
    expect(planner.plan(primitive, shapes), why).toEqual(first);
  }
});

test('only what was tuned here is told: others may have stored something else since', () => {
  const measured = new TunedChoices([
    { plan: 'a', choices: {} },
    { plan: 'b', choices: {} },
  ]);
  expect(measured.entries()).toEqual([]);
  measured.set({ plan: 'b', chosen: 'c', choices: { place: 'name' } });
  expect(measured.entries()).toEqual([{ plan: 'b', chosen: 'c', choices: { place: 'name' } }]);
  expect(measured.find('a')).toEqual({ plan: 'a', choices: {} });
});
