import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import type { PrimitiveFunction } from '../core/contracts/primitive-function.ts';
import { elementCount } from '../core/tensor/shape.ts';
import { callReference } from '../ops/testing/call-reference.ts';
import { firstDifference } from '../core/tensor/all-close.ts';
import { seededRandom } from '../core/random.ts';
import { KERNEL_DEVICES } from './testing/node-devices.ts';
import type { Device } from './device.ts';
import { allocateTensor, downloadTensors, uploadTensor } from './testing/device-tensors.ts';
import { randomPrimitive } from './testing/random-primitive.ts';

const TOLERANCE = { rtol: 1e-3, atol: 1e-3 };
const COUNT = 40;

/** Compiling all these pipelines takes long where the cores are shared. */
const TIMEOUT_MS = 180_000;

interface Sample {
  readonly primitive: PrimitiveFunction;
  readonly inputs: readonly HostTensor[];
  readonly expected: readonly HostTensor[];
}

const SAMPLES = Array.from({ length: COUNT }, (_, i): Sample => {
  const random = seededRandom(i + 1);
  const { primitive, params } = randomPrimitive(`fused_${i}`, random);
  const inputs = params.map(({ dtype, shape }) => {
    const scale = dtype === 'int8' ? 100 : 1;
    const values = Array.from({ length: elementCount(shape) }, () => (random() * 2 - 1) * scale);
    return HostTensor.from(dtype, shape, dtype === 'int8' ? values.map(Math.trunc) : values);
  });
  return { primitive, inputs, expected: callByCall(primitive, inputs) };
});

/** Scatters among other calls, as older compilers fused them. */
const SCATTERED = [3, 40].map((count): Sample => {
  const random = seededRandom(count);
  const matrix = { dtype: 'float32', shape: [9, 5] } as const;
  const primitive: PrimitiveFunction = {
    name: `scattered_${count}`,
    params: [
      matrix,
      { dtype: 'int32', shape: [count, 1] },
      { dtype: 'float32', shape: [count, 5] },
    ],
    body: [
      { op: 'tanh', inputs: [0], attributes: {} },
      { op: 'scatter_nd', inputs: [3, 1, 2], attributes: { reduction: 'add' } },
      { op: 'scatter_nd', inputs: [4, 1, 2], attributes: {} },
      { op: 'add', inputs: [5, 4], attributes: {} },
    ],
    results: [4, 6].map((value) => ({ value, type: matrix })),
  };
  const values = (length: number) => Array.from({ length }, () => random() * 2 - 1);
  const inputs = [
    HostTensor.from('float32', [9, 5], values(45)),
    HostTensor.from(
      'int32',
      [count, 1],
      Array.from({ length: count }, (_, i) => (i * 4) % 9),
    ),
    HostTensor.from('float32', [count, 5], values(5 * count)),
  ];
  return { primitive, inputs, expected: callByCall(primitive, inputs) };
});

/** Matrices whose axes change places between elementwise calls; the last has no whole blocks. */
const TURNED = [
  [68, 132],
  [4, 260],
  [66, 35],
].map(([rows = 1, columns = 1], i): Sample => {
  const random = seededRandom(i + 1);
  const type = (shape: readonly number[]) => ({ dtype: 'float32', shape }) as const;
  const primitive: PrimitiveFunction = {
    name: `turned_${i}`,
    params: [type([3, rows, columns]), type([columns, rows])],
    body: [
      { op: 'tanh', inputs: [0], attributes: {} },
      { op: 'transpose', inputs: [2], attributes: { perm: [0, 2, 1] } },
      { op: 'add', inputs: [3, 1], attributes: {} },
      { op: 'transpose', inputs: [0], attributes: { perm: [0, 2, 1] } },
      { op: 'mul', inputs: [4, 5], attributes: {} },
    ],
    results: [4, 6].map((value) => ({ value, type: type([3, columns, rows]) })),
  };
  const inputs = primitive.params.map(({ dtype, shape }) => {
    const sizes = shape.map(Number);
    const values = Array.from({ length: elementCount(sizes) }, () => random() * 2 - 1);
    return HostTensor.from(dtype, sizes, values);
  });
  return { primitive, inputs, expected: callByCall(primitive, inputs) };
});

const ALL = [...SAMPLES, ...TURNED, ...SCATTERED];

/** The definition of a primitive function: one reference after the other. */
function callByCall(primitive: PrimitiveFunction, inputs: readonly HostTensor[]): HostTensor[] {
  const values = [...inputs];
  for (const { op, inputs, attributes } of primitive.body) {
    const operands = inputs.map((value) => values[value]);
    values.push(callReference(op, operands, attributes));
  }
  return primitive.results.flatMap(({ value }) => values[value] ?? []);
}

function describeSample({ body }: PrimitiveFunction): string {
  return body.map(({ op, inputs }) => `${op}(${inputs.join(', ')})`).join(' ');
}

describe.each(KERNEL_DEVICES.map(({ title, open }) => [title, open] as const))(
  'fused primitives on %s',
  (_, open) => {
    let device: Device;
    beforeAll(async () => {
      device = await open();
    });
    afterAll(() => device.destroy());

    test(
      `${COUNT} random ones, transposes and scatters give what call by call gives`,
      async () => {
        const kernels = await device.prepare(ALL.map(({ primitive }) => primitive));
        const launched = ALL.map(({ primitive, inputs, expected }) => {
          const outputs = expected.map((tensor) => allocateTensor(device, tensor));
          const params = inputs.map((tensor) => uploadTensor(device, tensor));
          kernels.get(primitive.name)?.launch([...params, ...outputs]);
          return outputs;
        });
        const results = await downloadTensors(device, launched.flat());
        const expected = ALL.flatMap((sample) =>
          sample.expected.map((tensor) => ({ tensor, sample })),
        );
        const differences = expected.flatMap(({ tensor, sample }, i) => {
          const actual = results[i];
          const difference =
            actual === undefined ? 'no result' : firstDifference(actual, tensor, TOLERANCE);
          const { name } = sample.primitive;
          return difference === undefined
            ? []
            : [`${name} ${describeSample(sample.primitive)}: ${difference}`];
        });
        expect(differences).toEqual([]);
        expect(results).toHaveLength(expected.length);
      },
      TIMEOUT_MS,
    );
  },
);
