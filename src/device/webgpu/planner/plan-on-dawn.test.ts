import { beforeAll, describe, expect, test } from 'vitest';
import {
  type Gpu,
  openGpu,
  preparePlan,
  readBuffer,
  storageBuffer,
} from '../../../../bench/kernels/gpu.ts';
import { dtypeInfo } from '../../../core/dtype.ts';
import { HostTensor } from '../../../core/host-tensor.ts';
import type { AdapterClass } from '../../../core/launch-plan.ts';
import type { ConcreteTensorType, PrimitiveFunction } from '../../../core/primitive-function.ts';
import { elementCount } from '../../../core/shape.ts';
import type { OpCase, OpDefinition } from '../../../ops/define-op.ts';
import { inferCall, OPS } from '../../../ops/registry.ts';
import { firstDifference } from '../../../testing/all-close.ts';
import { seededRandom } from '../../../testing/random.ts';
import { plan } from './plan.ts';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openGpu();
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

/** Bytes as the device holds them: bool as words. */
function storageWords(tensor: HostTensor): Float32Array | Uint32Array | Int32Array {
  const { data } = tensor;
  if (data instanceof Float32Array || data instanceof Uint32Array || data instanceof Int32Array) {
    return data;
  }
  return Uint32Array.from(data, Number);
}

async function runOnGpu(
  primitive: PrimitiveFunction,
  inputs: readonly HostTensor[],
  adapterClass: AdapterClass,
): Promise<HostTensor[]> {
  const outputs = primitive.results.map(({ type }) =>
    HostTensor.zeros(type.dtype, type.shape.map(Number)),
  );
  const launchPlan = plan(
    primitive,
    { params: inputs.map(({ shape }) => shape), results: outputs.map(({ shape }) => shape) },
    { caps: { ...gpu.caps, adapterClass }, operators: OPS },
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
  adapterClass: AdapterClass,
): Promise<string | undefined> {
  const given = caseInputs(opCase);
  const types: (ConcreteTensorType | undefined)[] = given;
  const { attributes, output } = inferCall(op, types, opCase.attributes ?? {});
  const expected = HostTensor.zeros(output.dtype, output.shape);
  op.reference(given, attributes, expected);
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
  const [actual] = await runOnGpu(primitive, present, adapterClass);
  return actual === undefined ? 'no result' : firstDifference(actual, expected, op.tolerance);
}

function isOnGpu(opCase: OpCase): boolean {
  return opCase.inputs.every(
    (input) => input === undefined || ['float32', 'int32', 'uint32', 'bool'].includes(input.dtype),
  );
}

describe.each(['software', 'integrated', 'discrete'] as const)(
  'kernels of class %s',
  (adapterClass) => {
    const ops = [...OPS.values()].filter(
      ({ kind }) => adapterClass === 'software' || kind === 'anchor' || kind === 'reduction',
    );
    test.each(ops)('$name agrees with its reference', async (op) => {
      const differences: string[] = [];
      for (const opCase of op.cases().filter(isOnGpu)) {
        const difference = await differenceOf(op, opCase, adapterClass).catch(
          (error: unknown) => `threw ${String(error)}`,
        );
        if (difference !== undefined) differences.push(`${opCase.title}: ${difference}`);
      }
      expect(differences).toEqual([]);
    });
  },
);
