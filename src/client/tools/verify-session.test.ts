import { describe, expect, test } from 'vitest';
import { numberToFloat16 } from '../../core/tensor/float16.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { sharedNodeGpu } from '../../testing/node-gpu.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';
import { Session, Tensor } from '../index.ts';

const half = (values: readonly number[], shape: readonly number[] = [values.length]) =>
  HostTensor.from('float16', shape, values.map(numberToFloat16));

/** Products of rows that are scaled behind them, as models have them before their attention. */
const MODEL = writeOnnxModel({
  nodes: [
    { op: 'Relu', name: 'gate', inputs: ['x'], outputs: ['g'] },
    { op: 'MatMul', name: 'scores', inputs: ['g', 'w'], outputs: ['s'] },
    { op: 'Mul', name: 'scale', inputs: ['s', 'factor'], outputs: ['y'] },
    { op: 'Transpose', name: 'turn', inputs: ['s'], outputs: ['z'] },
  ],
  inputs: [{ name: 'x', dtype: 'float16', shape: [2, 3] }],
  outputs: ['y', 'z'],
  initializers: { w: half([100, 200, 300, 1, 2, 3], [3, 2]), factor: half([0.001], []) },
});

const inputOf = (values: readonly number[]) =>
  new Tensor('float16', Uint16Array.from(values, numberToFloat16), [2, 3]);

const SMALL = inputOf([1, 2, 3, 4, 5, 6]);
const LARGE = inputOf([1, 2, 3, 400, 500, 600]);

describe.each(['host', 'wasm', 'webgpu'] as const)('verify on %s', (device) => {
  const open = async () => {
    const gpu = device === 'webgpu' ? { gpu: await sharedNodeGpu() } : {};
    return Session.load(MODEL, { worker: false, device, ...gpu });
  };

  test('names the node whose value left float16', async () => {
    const session = await open();
    const { departure, largestError } = await session.verify({ x: LARGE });
    expect(departure).toMatchObject({
      sources: ['node "gate"', 'node "scores"'],
      got: Number.POSITIVE_INFINITY,
      dtype: 'float16',
      shape: [2, 2],
      infinities: 2,
      nans: 0,
    });
    expect(departure?.expected).toBeGreaterThan(65_504);
    expect(largestError).toBe(Number.POSITIVE_INFINITY);
    // The session is as it was.
    const { y } = await session.run({ x: SMALL });
    expect(y?.shape).toEqual([2, 2]);
    await session.dispose();
  });

  test('finds nothing where nothing is wrong, but what rounding does with a tolerance below it', async () => {
    const session = await open();
    const sound = await session.verify({ x: SMALL });
    expect(sound.departure).toBe(undefined);
    expect(sound.largestError).toBeLessThan(0.001);
    expect(sound.calls).toBeGreaterThan(1);
    const strict = await session.verify({ x: SMALL }, { tolerance: 1e-9 });
    expect(strict.departure?.relativeError).toBeGreaterThan(1e-9);
    await session.dispose();
  });
});

test('misuse', async () => {
  const session = await Session.load(MODEL, { worker: false, device: 'host' });
  await expect(session.verify({ x: SMALL }, { tolerance: 0 })).rejects.toThrow(
    'verify: got tolerance 0, expected a number above 0',
  );
  await expect(session.verify({ x: SMALL }, { function: 'none' })).rejects.toMatchObject({
    name: 'UsageError',
  });
  await expect(session.verify({ x: Tensor.from([1]) })).rejects.toMatchObject({
    name: 'ShapeError',
  });
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(session.verify({ x: SMALL }, { signal })).rejects.toThrow('enough');
  await session.dispose();
  await expect(session.verify({ x: SMALL })).rejects.toThrow('The session was disposed.');
});

describe.each(['host', 'wasm', 'webgpu'] as const)('overflows on %s', (device) => {
  test('names values of float16 that come near its limit in any sample', async () => {
    const gpu = device === 'webgpu' ? { gpu: await sharedNodeGpu() } : {};
    const session = await Session.load(MODEL, { worker: false, device, ...gpu });
    const sound = await session.overflows([{ x: SMALL }]);
    expect(sound.overflows).toEqual([]);
    expect(sound.values).toBeGreaterThan(0);
    const found = await session.overflows([{ x: SMALL }, { x: LARGE }, { x: SMALL }]);
    expect(found.values).toBe(sound.values);
    expect(found.overflows[0]?.sources).toContain('node "scores"');
    expect(found.overflows[0]?.largest).toBeGreaterThan(65_504);
    // 2,000 or so of 65,504.
    expect((await session.overflows([{ x: SMALL }], { margin: 1000 })).overflows).not.toEqual([]);
    await expect(session.overflows([])).rejects.toThrow('overflows: got no samples');
    await expect(session.overflows([{ x: SMALL }], { margin: 0.5 })).rejects.toThrow(
      'overflows: got margin 0.5, expected a number from 1 up',
    );
    await session.dispose();
  });
});
