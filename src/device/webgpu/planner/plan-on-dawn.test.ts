import { beforeAll, describe, expect, test } from 'vitest';
import { type Gpu, openGpu } from '../testing/open-gpu.ts';
import { preparePlan, readBuffer, storageBuffer } from '../testing/prepare-plan.ts';
import { dtypeInfo } from '../../../core/tensor/dtype.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { PlannerCaps } from '../../../core/contracts/launch-plan.ts';
import type {
  ConcreteTensorType,
  PrimitiveFunction,
} from '../../../core/contracts/primitive-function.ts';
import { elementCount } from '../../../core/tensor/shape.ts';
import type { OpDefinition } from '../../../ops/define-op.ts';
import type { OpCase } from '../../../ops/op-cases.ts';
import { inferConcreteCall } from '../../../ops/infer-concrete-call.ts';
import { callReference } from '../../../ops/testing/call-reference.ts';
import { CORE_OPERATORS } from '../../../ops/tables/core-operators.ts';
import { testedOp } from '../../../ops/testing/tested-ops.ts';
import { firstDifference } from '../../../core/tensor/all-close.ts';
import { pausePolls } from '../../../testing/pause-polls.ts';
import { seededRandom } from '../../../core/random.ts';
import { keepPipelines } from '../../../testing/keep-pipelines.ts';
import { plan } from './plan.ts';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openGpu();
  pausePolls();
  keepPipelines(gpu.device);
});

function caseInputs(opCase: OpCase): (HostTensor | undefined)[] {
  const random = seededRandom(7);
  return opCase.inputs.map((input) => {
    if (input === undefined) return undefined;
    const isFloat = input.dtype.startsWith('float');
    const [low, high] =
      input.range ?? (isFloat ? [-2, 2] : input.dtype === 'bool' ? [0, 2] : [-8, 8]);
    const values = Array.from({ length: elementCount(input.shape) }, (_, i) => {
      const value = input.values?.[i] ?? low + random() * (high - low);
      return isFloat ? value : Math.floor(value);
    });
    return HostTensor.from(input.dtype, input.shape, values);
  });
}

/** Bytes as the device holds them: bool as words, of bytes whole words. */
function storageWords({ dtype, data }: HostTensor): Float32Array | Uint32Array | Int32Array {
  if (dtype === 'uint8') return new Uint32Array(Uint8Array.from(data, Number).buffer);
  if (data instanceof Float32Array || data instanceof Uint32Array || data instanceof Int32Array) {
    return data;
  }
  return Uint32Array.from(data, Number);
}

async function runOnGpu(
  primitive: PrimitiveFunction,
  inputs: readonly HostTensor[],
  caps: Partial<PlannerCaps>,
): Promise<HostTensor[]> {
  const outputs = primitive.results.map(({ type }) =>
    HostTensor.zeros(type.dtype, type.shape.map(Number)),
  );
  const launchPlan = plan(
    primitive,
    { params: inputs.map(({ shape }) => shape), results: outputs.map(({ shape }) => shape) },
    { caps: { ...gpu.caps, ...caps }, operators: CORE_OPERATORS },
  );
  const buffers = [...inputs, ...outputs].map((tensor) => storageBuffer(gpu, storageWords(tensor)));
  const prepared = await preparePlan(gpu, launchPlan, buffers);
  await prepared.run();
  return Promise.all(
    outputs.map(async ({ dtype, shape }, i) => {
      const buffer = buffers[inputs.length + i];
      if (buffer === undefined) throw new Error('no result buffer');
      const bytes = await readBuffer(gpu, buffer);
      const count = elementCount(shape);
      const words = dtype === 'bool' ? Uint8Array.from(new Uint32Array(bytes)) : undefined;
      const elements = words?.slice(0, count) ?? new (dtypeInfo(dtype).array)(bytes, 0, count);
      return new HostTensor(dtype, shape, elements);
    }),
  );
}

async function differenceOf(
  op: OpDefinition,
  opCase: OpCase,
  caps: Partial<PlannerCaps>,
): Promise<string | undefined> {
  const given = caseInputs(opCase);
  const types: (ConcreteTensorType | undefined)[] = given;
  const { output } = inferConcreteCall(op, types, opCase.attributes ?? {});
  const expected = callReference(op.name, given, opCase.attributes);
  const present = given.filter((tensor) => tensor !== undefined);
  let next = 0;
  const primitive: PrimitiveFunction = {
    name: op.name,
    params: present,
    body: [
      {
        op: op.name,
        inputs: given.map((tensor) => (tensor === undefined ? -1 : next++)),
        attributes: opCase.attributes ?? {},
      },
    ],
    results: [{ value: present.length, type: output }],
  };
  const [actual] = await runOnGpu(primitive, present, caps);
  return actual === undefined ? 'no result' : firstDifference(actual, expected, op.tolerance);
}

function isOnGpu(opCase: OpCase): boolean {
  return opCase.inputs.every(
    (input) => input === undefined || ['float32', 'int32', 'uint32', 'bool'].includes(input.dtype),
  );
}

/** Each case compiles pipelines, which takes long where the cores are shared. */
const TIMEOUT_MS = 180_000;

// Variants for classes of adapters are tested with the devices; no device leaves subgroups unused.
const WITHOUT_SUBGROUPS = { subgroups: false, subgroupMinSize: 0 };
const BY_LANES = ['reduce_sum', 'reduce_max', 'softmax', 'log_softmax', 'layer_norm'];
describe('kernels without subgroups', () => {
  test.each([
    ...['matmul', 'gemm', 'conv2d'].map((name) => [name, 'software'] as const),
    ...BY_LANES.map((name) => [name, 'discrete'] as const),
  ])(
    '%s agrees with its reference as on %s adapters',
    async (name, adapterClass) => {
      const op = testedOp(name);
      const differences: string[] = [];
      for (const opCase of op.cases().filter(isOnGpu)) {
        const caps = { ...WITHOUT_SUBGROUPS, adapterClass };
        const difference = await differenceOf(op, opCase, caps);
        if (difference !== undefined) differences.push(`${opCase.title}: ${difference}`);
      }
      expect(differences).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

const tensor = (...shape: number[]) => ({ dtype: 'float32' as const, shape });
const ramp = (...shape: number[]) =>
  HostTensor.from(
    'float32',
    shape,
    Array.from({ length: elementCount(shape) }, (_, i) => (i % 7) - 3),
  );

describe('fusion', () => {
  test.each([5, 6])(
    'elementwise neighbours and a per-channel operand join a convolution of width %i',
    async (width) => {
      const primitive: PrimitiveFunction = {
        name: 'fused_conv2d',
        params: [
          tensor(1, 2, 6, width),
          tensor(3, 2, 3, 3),
          tensor(3, 1, 1),
          tensor(1, 3, 4, width - 2),
        ],
        body: [
          { op: 'relu', inputs: [0], attributes: {} },
          {
            op: 'conv2d',
            inputs: [4, 1, -1],
            attributes: { strides: [1, 1], pads: [0, 0, 0, 0], dilations: [1, 1], groups: 1 },
          },
          { op: 'add', inputs: [5, 2], attributes: {} },
          { op: 'add', inputs: [6, 3], attributes: {} },
          { op: 'relu', inputs: [7], attributes: {} },
        ],
        results: [{ value: 8, type: tensor(1, 3, 4, width - 2) }],
      };
      await expectSameAsSteps(primitive);
    },
  );

  test('two results of one chain, and a transposed operand of a product', async () => {
    await expectSameAsSteps({
      name: 'two_results',
      params: [tensor(5, 3), tensor(3)],
      body: [
        { op: 'add', inputs: [0, 1], attributes: {} },
        { op: 'neg', inputs: [2], attributes: {} },
      ],
      results: [
        { value: 2, type: tensor(5, 3) },
        { value: 3, type: tensor(5, 3) },
      ],
    });
    await expectSameAsSteps({
      name: 'transposed_matmul',
      params: [tensor(4, 6), tensor(5, 6)],
      body: [
        { op: 'transpose', inputs: [1], attributes: { perm: [1, 0] } },
        { op: 'matmul', inputs: [0, 2], attributes: {} },
      ],
      results: [{ value: 3, type: tensor(4, 5) }],
    });
  });

  test.each(['float32', 'int32', 'bool'] as const)(
    'lanes in a loop give what lanes written out give, %s',
    async (dtype) => {
      const inputs = [3, 5].map((columns) => {
        const shape = [2, 3, 1, 5, columns];
        const values = Array.from({ length: 30 * columns }, (_, i) => (i * 7 + columns) % 2);
        return HostTensor.from(
          dtype,
          shape,
          dtype === 'bool' ? values : values.map((x, i) => x + i),
        );
      });
      const primitive: PrimitiveFunction = {
        name: 'concat',
        params: inputs.map(({ shape }) => ({ dtype, shape })),
        body: [{ op: 'concat', inputs: [0, 1], attributes: { axis: 4 } }],
        results: [{ value: 2, type: { dtype, shape: [2, 3, 1, 5, 8] } }],
      };
      const [looped] = await runOnGpu(primitive, inputs, { adapterClass: 'software' });
      const [written] = await runOnGpu(primitive, inputs, { adapterClass: 'integrated' });
      expect(looped?.data).toEqual(written?.data);
      const [first] = inputs;
      const row = (tensor?: HostTensor) => [...(tensor?.data ?? [])].slice(0, 3).map(Number);
      expect(row(looped)).toEqual(row(first));
    },
  );

  test.each([1, 3, 4, 5, 17, 64, 65])(
    'coordinates that are known are used again in concats of slices of transposes, %i wide',
    async (width) => {
      const slice = (input: number, starts: readonly number[], ends: readonly number[]) => ({
        op: 'slice',
        inputs: [input],
        attributes: { starts, ends, steps: [1, 1, 1, 1] },
      });
      const transpose = (input: number) => ({
        op: 'transpose',
        inputs: [input],
        attributes: { perm: [0, 2, 3, 1] },
      });
      const primitive: PrimitiveFunction = {
        name: 'concat_of_slices',
        params: [tensor(2, width, 3, 4), tensor(2, width, 3, 5), tensor(2, 3, 1, width)],
        body: [
          transpose(0),
          { op: 'add', inputs: [3, 2], attributes: {} },
          slice(4, [0, 0, 1, 0], [2, 3, 4, width]),
          transpose(1),
          { op: 'concat', inputs: [5, 6, 2], attributes: { axis: 2 } },
          slice(7, [0, 1, 2, 0], [2, 3, 9, width]),
          { op: 'neg', inputs: [8], attributes: {} },
        ],
        results: [{ value: 9, type: tensor(2, 2, 7, width) }],
      };
      for (const adapterClass of ['software', 'integrated', 'discrete'] as const) {
        await expectSameAsSteps(primitive, { adapterClass });
      }
    },
  );

  test.each([2, 9])('codes that are computed are read as words, %i rows', async (rows) => {
    const shape = [12, 2, 16];
    const random = seededRandom(3);
    const bytes = () =>
      HostTensor.from(
        'uint8',
        shape,
        Array.from({ length: elementCount(shape) }, () => Math.floor(random() * 256)),
      );
    const inputs = [ramp(rows, 64), bytes(), ramp(12, 2), bytes()] as const;
    const [a, codes, scales, flipped] = inputs;
    const attributes = { bits: 4, block_size: 32 };
    const primitive: PrimitiveFunction = {
      name: 'computed_codes',
      params: inputs,
      body: [
        { op: 'bitwise_xor', inputs: [1, 3], attributes: {} },
        { op: 'matmul_nbits', inputs: [0, 4, 2], attributes },
      ],
      results: [{ value: 5, type: tensor(rows, 12) }],
    };
    const computed = callReference('bitwise_xor', [codes, flipped], {});
    const expected = callReference('matmul_nbits', [a, computed, scales], attributes);
    for (const adapterClass of ['software', 'integrated', 'discrete'] as const) {
      const [actual] = await runOnGpu(primitive, inputs, { adapterClass });
      if (actual === undefined) throw new Error('no result');
      expect(firstDifference(actual, expected, { rtol: 1e-5, atol: 1e-4 })).toBeUndefined();
    }
  });

  test('two anchors run one after the other through scratch', async () => {
    await expectSameAsSteps({
      name: 'two_matmuls',
      params: [tensor(4, 6), tensor(6, 5), tensor(5, 8)],
      body: [
        { op: 'matmul', inputs: [0, 1], attributes: {} },
        { op: 'relu', inputs: [3], attributes: {} },
        { op: 'matmul', inputs: [4, 2], attributes: {} },
      ],
      results: [{ value: 5, type: tensor(4, 8) }],
    });
  });
});

/** Runs the body by references, call by call, and compares. */
async function expectSameAsSteps(
  primitive: PrimitiveFunction,
  caps: Partial<PlannerCaps> = {},
): Promise<void> {
  const inputs = primitive.params.map(({ shape }) => ramp(...shape.map(Number)));
  const values: HostTensor[] = [...inputs];
  for (const call of primitive.body) {
    const operands = call.inputs.map((input) => (input < 0 ? undefined : values[input]));
    values.push(callReference(call.op, operands, call.attributes));
  }
  const actual = await runOnGpu(primitive, inputs, caps);
  const differences = primitive.results.map(({ value }, i) => {
    const [got, expected] = [actual[i], values[value]];
    if (got === undefined || expected === undefined) return 'no result';
    return firstDifference(got, expected, { rtol: 1e-5, atol: 1e-5 });
  });
  expect(differences).toEqual(primitive.results.map(() => undefined));
}
