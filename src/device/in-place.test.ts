import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DType } from '../core/tensor/dtype.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import type { OperatorCall, PrimitiveFunction } from '../core/contracts/primitive-function.ts';
import { seededRandom } from '../core/random.ts';
import type { Device } from './device.ts';
import { KERNEL_DEVICES, WASM_THREADS } from './testing/node-devices.ts';
import { allocateTensor, downloadTensors, uploadTensor } from './testing/device-tensors.ts';

/** Counts with every kind of rest, and one of more than a block. */
const COUNTS = [1, 6, 31, 9000];

const call = (op: string, ...inputs: number[]): OperatorCall => ({ op, inputs, attributes: {} });

/** Chains over `x`, a tensor of the same type, and one that is broadcast; the result lies where `x` does. */
const CHAINS: readonly { readonly dtype: DType; readonly body: readonly OperatorCall[] }[] = [
  {
    dtype: 'float32',
    body: [
      call('mul', 1, 1),
      call('add', 3, 2),
      call('sqrt', 4),
      call('div', 0, 5),
      call('sub', 0, 6),
    ],
  },
  { dtype: 'float16', body: [call('add', 0, 1), call('mul', 3, 2), call('add', 4, 0)] },
  { dtype: 'int32', body: [call('mul', 0, 1), call('sub', 3, 0), call('add', 4, 2)] },
  { dtype: 'int64', body: [call('add', 0, 1), call('sub', 3, 2), call('maximum', 4, 0)] },
  { dtype: 'int8', body: [call('add', 0, 1), call('sub', 3, 2), call('maximum', 4, 0)] },
  {
    dtype: 'uint16',
    body: [{ op: 'cast', inputs: [0], attributes: { to: 'float32' } }, call('relu', 3)].concat({
      op: 'cast',
      inputs: [4],
      attributes: { to: 'uint16' },
    }),
  },
  { dtype: 'bool', body: [call('equal', 0, 1), call('equal', 3, 2)] },
];

interface Sample {
  readonly primitive: PrimitiveFunction;
  readonly inputs: readonly HostTensor[];
}

const SAMPLES = CHAINS.flatMap(({ dtype, body }) =>
  COUNTS.map((count): Sample => {
    const random = seededRandom(count);
    const shape = count % 3 === 0 ? [count / 3, 3] : [count];
    const values = (length: number): number[] =>
      Array.from({ length }, () => Math.floor(random() * (dtype === 'bool' ? 2 : 40)));
    const one = count % 3 === 0 ? [1, 3] : [1];
    const [type, broadcast] = [
      { dtype, shape },
      { dtype, shape: one },
    ];
    return {
      primitive: {
        name: `${dtype}_${count}`,
        params: [type, type, broadcast],
        body,
        results: [{ value: 2 + body.length, type }],
        inPlace: 0,
      },
      inputs: [
        HostTensor.from(dtype, shape, values(count)),
        HostTensor.from(dtype, shape, values(count)),
        HostTensor.from(
          dtype,
          one,
          values(one.reduce((a, b) => a * b, 1)).map((n) => (dtype === 'bool' ? n : n + 1)),
        ),
      ],
    };
  }),
);

describe.each([...KERNEL_DEVICES, WASM_THREADS])(
  'chains whose result lies in an input, on $title',
  ({ open }) => {
    let device: Device;
    beforeAll(async () => {
      device = await open();
    });
    afterAll(() => device.destroy());

    test('give the same bits in place and apart', async () => {
      const primitives = SAMPLES.map(({ primitive }) => primitive);
      const plain = primitives.map(({ name, params, body, results }): PrimitiveFunction => {
        return { name: `${name}_apart`, params, body, results };
      });
      const kernels = await device.prepare([...primitives, ...plain]);
      const launched = SAMPLES.map(({ primitive, inputs }) => {
        const kernel = kernels.get(primitive.name);
        expect(kernel?.overwrites).toBe(0);
        const [x, y, z] = inputs.map((input) => uploadTensor(device, input));
        if (x === undefined || y === undefined || z === undefined) throw new Error('no inputs');
        const [type] = primitive.params;
        const of = { dtype: type?.dtype ?? 'float32', shape: inputs[0]?.shape ?? [] };
        const [apart, elsewhere] = [allocateTensor(device, of), allocateTensor(device, of)];
        kernels.get(`${primitive.name}_apart`)?.launch([x, y, z, apart]);
        kernel?.launch([x, y, z, elsewhere]);
        kernel?.launch([x, y, z, x]);
        return { name: primitive.name, apart, elsewhere, x };
      });
      const tensors = launched.flatMap(({ apart, elsewhere, x }) => [apart, elsewhere, x]);
      const read = await downloadTensors(device, tensors);
      for (const [i, { name }] of launched.entries()) {
        const [apart, elsewhere, inPlace] = read.slice(3 * i, 3 * i + 3);
        expect(inPlace?.data, name).toEqual(apart?.data);
        expect(elsewhere?.data, `${name} into other memory`).toEqual(apart?.data);
      }
      kernels.dispose();
    });
  },
);
