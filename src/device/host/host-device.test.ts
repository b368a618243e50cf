import { describe, expect, test } from 'vitest';
import { OutOfMemoryError, ShapeError, UnsupportedError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import { defineElementwise } from '../../ops/elementwise/elementwise.ts';
import * as f from '../../ops/formula/build.ts';
import { Operators } from '../../ops/operators.ts';
import type { Device, DeviceTensor, Kernel } from '../device.ts';
import { allocateTensor, downloadTensors, uploadTensor } from '../testing/device-tensors.ts';
import { createHostDevice } from './host-device.ts';

const image = (...shape: (number | string)[]) => ({ dtype: 'float32', shape }) as const;

/** relu(conv(x, w) + bias) * 2, a fused group with one anchor. */
const fused: PrimitiveFunction = {
  name: 'fused_conv2d_add_relu_mul',
  params: [image('n', 1, 3, 3), image(2, 1, 1, 1), image(2, 1, 1), image()],
  body: [
    { op: 'conv2d', inputs: [0, 1, -1], attributes: {} },
    { op: 'add', inputs: [4, 2], attributes: {} },
    { op: 'relu', inputs: [5], attributes: {} },
    { op: 'mul', inputs: [6, 3], attributes: {} },
  ],
  results: [{ value: 7, type: image('n', 2, 3, 3) }],
};

const ramp = (shape: number[]) =>
  HostTensor.from(
    'float32',
    shape,
    Array.from({ length: shape.reduce((count, dim) => count * dim, 1) }, (_, i) => i),
  );

async function kernelOf(device: Device, primitive: PrimitiveFunction): Promise<Kernel> {
  const kernel = (await device.prepare([primitive])).get(primitive.name);
  if (kernel === undefined) throw new Error(`no kernel ${primitive.name}`);
  return kernel;
}

function fusedArguments(device: Device, batch: number): DeviceTensor[] {
  return [
    uploadTensor(device, ramp([batch, 1, 3, 3])),
    uploadTensor(device, HostTensor.from('float32', [2, 1, 1, 1], [1, -1])),
    uploadTensor(device, HostTensor.from('float32', [2, 1, 1], [-1, 3])),
    uploadTensor(device, HostTensor.from('float32', [], [2])),
    allocateTensor(device, { dtype: 'float32', shape: [batch, 2, 3, 3] }),
  ];
}

async function lastValues(device: Device, args: readonly DeviceTensor[]): Promise<number[]> {
  const [result] = await downloadTensors(device, args.slice(-1));
  return Array.from(result?.data ?? [], Number);
}

describe('the host device', () => {
  test('runs elementwise calls after an anchor as one chain', async () => {
    const device = createHostDevice();
    const kernel = await kernelOf(device, fused);
    const args = fusedArguments(device, 1);
    const stop = await device.startProfile();
    kernel.launch(args);
    const timings = await stop();
    expect(timings.map(({ primitive, label }) => `${primitive}: ${label}`)).toEqual([
      'fused_conv2d_add_relu_mul: conv2d',
      'fused_conv2d_add_relu_mul: add+relu+mul',
    ]);
    expect(timings.every(({ durationMs }) => (durationMs ?? -1) >= 0)).toBe(true);
    expect(await lastValues(device, args)).toEqual([
      0, 0, 2, 4, 6, 8, 10, 12, 14, 6, 4, 2, 0, 0, 0, 0, 0, 0,
    ]);
  });

  test.each(['uint32', 'int64'] as const)('makes a formula of %s once a plan', async (dtype) => {
    let made = 0;
    const formula = () => {
      made++;
      return f.add(f.A, f.A);
    };
    const inputs = [{ name: 'x', dtypes: [dtype] }];
    const twice = defineElementwise({ name: 'twice', inputs, scalar: { formula } });
    const device = createHostDevice({ operators: new Operators([twice]) });
    const primitive: PrimitiveFunction = {
      name: 'twice',
      params: [{ dtype, shape: ['n'] }],
      body: [{ op: 'twice', inputs: [0], attributes: {} }],
      results: [{ value: 1, type: { dtype, shape: ['n'] } }],
    };
    const kernel = await kernelOf(device, primitive);
    const counts: number[] = [];
    for (const elements of [[3, 4], [5, 6], [7, 8], [9]]) {
      const values = dtype === 'int64' ? elements.map(BigInt) : elements;
      const x = uploadTensor(device, HostTensor.from(dtype, [elements.length], values));
      const args = [x, allocateTensor(device, { dtype, shape: [elements.length] })];
      kernel.launch(args);
      expect(await lastValues(device, args)).toEqual(elements.map((element) => 2 * element));
      counts.push(made);
    }
    const [once = 0] = counts;
    expect(counts).toEqual([once, once, once, 2 * once]);
  });

  test('takes shapes as they come', async () => {
    const device = createHostDevice();
    const kernel = await kernelOf(device, fused);
    for (const batch of [2, 1, 0, 3, 3]) {
      const args = fusedArguments(device, batch);
      kernel.launch(args);
      const expected = Array.from({ length: batch }, (_, n) => [
        ...Array.from({ length: 9 }, (_, i) => Math.max(0, n * 9 + i - 1) * 2),
        ...Array.from({ length: 9 }, (_, i) => Math.max(0, 3 - n * 9 - i) * 2),
      ]);
      expect(await lastValues(device, args)).toEqual(expected.flat());
    }
  });

  test('chains longer than a block and broadcast operands agree with single calls', async () => {
    const device = createHostDevice();
    const kernel = await kernelOf(device, {
      name: 'chain',
      params: [image(3, 2500), image(3, 1)],
      body: [
        { op: 'add', inputs: [0, 1], attributes: {} },
        { op: 'less', inputs: [2, 0], attributes: {} },
        { op: 'where', inputs: [3, 0, 2], attributes: {} },
      ],
      results: [
        { value: 4, type: image(3, 2500) },
        { value: 3, type: { dtype: 'bool', shape: [3, 2500] } },
      ],
    });
    const x = uploadTensor(device, ramp([3, 2500]));
    const y = uploadTensor(device, HostTensor.from('float32', [3, 1], [1, -1, 5]));
    const outputs = [
      allocateTensor(device, { dtype: 'float32', shape: [3, 2500] }),
      allocateTensor(device, { dtype: 'bool', shape: [3, 2500] }),
    ];
    kernel.launch([x, y, ...outputs]);
    const [values, isLess] = await downloadTensors(device, outputs);
    const expected = Array.from({ length: 7500 }, (_, i) => {
      const added = [1, -1, 5][Math.floor(i / 2500)] ?? 0;
      return { value: added < 0 ? i : i + added, isLess: Number(added < 0) };
    });
    expect(Array.from(values?.data ?? [], Number)).toEqual(expected.map(({ value }) => value));
    expect(Array.from(isLess?.data ?? [], Number)).toEqual(expected.map(({ isLess }) => isLess));
  });

  test('an operator without a formula is part of a chain', async () => {
    const device = createHostDevice();
    const kernel = await kernelOf(device, {
      name: 'chain',
      params: [{ dtype: 'float32', shape: [3] }],
      body: [
        { op: 'neg', inputs: [0], attributes: {} },
        { op: 'bitcast', inputs: [1], attributes: { to: 'int32' } },
        { op: 'abs', inputs: [2], attributes: {} },
      ],
      results: [{ value: 3, type: { dtype: 'int32', shape: [3] } }],
    });
    const x = uploadTensor(device, HostTensor.from('float32', [3], [1, -1, 0.5]));
    const output = allocateTensor(device, { dtype: 'int32', shape: [3] });
    kernel.launch([x, output]);
    const [values] = await downloadTensors(device, [output]);
    expect([...(values?.data ?? [])]).toEqual([0x40800000, 0x3f800000, 0x41000000]);
  });

  test('runs dtypes that GPUs do not have where an operator only moves data', async () => {
    const device = createHostDevice();
    const kernel = await kernelOf(device, {
      name: 'transpose',
      params: [{ dtype: 'int64', shape: [2, 2] }],
      body: [{ op: 'transpose', inputs: [0], attributes: { perm: [1, 0] } }],
      results: [{ value: 1, type: { dtype: 'int64', shape: [2, 2] } }],
    });
    const x = uploadTensor(device, HostTensor.from('int64', [2, 2], [1n, 2n, 3n, -4n]));
    const y = allocateTensor(device, x);
    kernel.launch([x, y]);
    const [result] = await downloadTensors(device, [y]);
    expect(result?.data).toEqual(BigInt64Array.of(1n, 3n, 2n, -4n));
  });

  test('keeps to its byte budget', () => {
    const device = createHostDevice({ byteBudget: 1000 });
    const first = device.createBuffer(600);
    expect(() => device.createBuffer(404)).toThrow(OutOfMemoryError);
    expect(() => device.createBuffer(404)).toThrow(
      'host buffer: got a request for 404 bytes with 600 in use, expected at most 400, the ' +
        'rest of 1000. Use smaller inputs or a smaller batch.',
    );
    first.destroy();
    expect(device.createBuffer(1000).byteLength).toBe(1000);
  });

  test('what the engine cannot give is out of memory too', () => {
    const device = createHostDevice({ maxBufferByteLength: Number.MAX_SAFE_INTEGER });
    expect(() => device.createBuffer(2 ** 52)).toThrow(OutOfMemoryError);
    expect(device.counters().bytesLive).toBe(0);
  });

  test('refuses calls that do not fit their declared types before anything runs', async () => {
    const device = createHostDevice();
    const misfit: PrimitiveFunction = {
      name: 'misfit',
      params: [image(2), image(3)],
      body: [{ op: 'add', inputs: [0, 1], attributes: {} }],
      results: [{ value: 2, type: image(3) }],
    };
    const declared: PrimitiveFunction = {
      ...misfit,
      name: 'declared',
      params: [image(3), image(3)],
      results: [{ value: 2, type: image(4) }],
    };
    const prepared = device.prepare([misfit, fused, declared]);
    await expect(prepared).rejects.toThrow(UnsupportedError);
    await expect(prepared).rejects.toThrowErrorMatchingInlineSnapshot(`
      [UnsupportedError: The host device cannot run 2 of 3 primitive functions:
        misfit: add: got (2,) and (3,), expected shapes that broadcast (dimension -1 is 2 and 3). Dimensions must be equal or 1, aligned from the right.
        declared: result: got float32 (3,), expected float32 (4,) as declared.]
    `);
  });

  test('a launch whose shapes do not fit throws and leaves the results as they are', async () => {
    const device = createHostDevice();
    const kernel = await kernelOf(device, { ...fused, params: fused.params.map(symbolic) });
    const args = fusedArguments(device, 1);
    const [, w] = args;
    if (w !== undefined) args[1] = { ...w, shape: [1, 2, 1, 1] };
    expect(() => kernel.launch(args)).toThrow(ShapeError);
    expect(await lastValues(device, args)).toEqual(Array.from({ length: 18 }, () => 0));
  });
});

function symbolic({ dtype, shape }: PrimitiveFunction['params'][number], index: number) {
  return { dtype, shape: shape.map((_, axis) => `d${index}_${axis}`) };
}

test('an operator that the device lacks is refused by name', async () => {
  const body = [{ op: 'nothing', inputs: [], attributes: {} }];
  await expect(createHostDevice().prepare([{ ...fused, body }])).rejects.toThrow(
    'fused_conv2d_add_relu_mul: got operator nothing, expected one that the device has',
  );
});

describe('primitives made to do harm', () => {
  const reduced = (shape: readonly number[]): PrimitiveFunction => ({
    name: 'reduced',
    params: [],
    body: [
      { op: 'full', inputs: [], attributes: { shape, value: 1 } },
      { op: 'reduce_sum', inputs: [0], attributes: {} },
    ],
    results: [{ value: 1, type: image() }],
  });

  test.each([[[2 ** 40]], [[2 ** 28, 5]], [[2 ** 52, 2 ** 52]]])(
    'temporaries %j are out of memory',
    async (shape) => {
      const device = createHostDevice({ byteBudget: 2 ** 20 });
      const kernel = await kernelOf(device, reduced(shape));
      const result = allocateTensor(device, { dtype: 'float32', shape: [] });
      expect(() => kernel.launch([result])).toThrow(OutOfMemoryError);
      const small = await kernelOf(device, reduced([1000]));
      small.launch([result]);
      expect(await lastValues(device, [result])).toEqual([1000]);
    },
  );

  test('no walk along a dimension of a tensor without elements', async () => {
    await expect(kernelOf(createHostDevice(), reduced([2 ** 50, 0]))).rejects.toThrow(
      'reduced: full: got a result float32 (1125899906842624, 0), expected less than 2^32 elements, not counting dimensions of 0.',
    );
  });

  test('a destination of another shape is refused', async () => {
    const device = createHostDevice();
    const kernel = await kernelOf(device, {
      name: 'p',
      params: [image('n')],
      body: [{ op: 'relu', inputs: [0], attributes: {} }],
      results: [{ value: 1, type: image('?') }],
    });
    const x = uploadTensor(device, ramp([100]));
    for (const count of [1, 60, 101]) {
      const target = allocateTensor(device, { dtype: 'float32', shape: [count] });
      expect(() => kernel.launch([x, target])).toThrow(
        `kernel p, result 0: got float32 (100,), expected float32 (${count},), that of the destination.`,
      );
    }
  });

  test('a chain of 100,000 operators', async () => {
    const count = 100_000;
    const device = createHostDevice();
    const kernel = await kernelOf(device, {
      name: 'chain',
      params: [image(2)],
      body: Array.from({ length: count }, (_, i) => ({ op: 'neg', inputs: [i], attributes: {} })),
      results: [{ value: count, type: image(2) }],
    });
    const stop = await device.startProfile();
    const target = allocateTensor(device, { dtype: 'float32', shape: [2] });
    kernel.launch([uploadTensor(device, ramp([2])), target]);
    expect(await lastValues(device, [target])).toEqual([0, 1]);
    expect((await stop())[0]?.label).toBe(`${'neg+'.repeat(16)}…`);
  });
});
