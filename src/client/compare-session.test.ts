import { expect, test } from 'vitest';
import { brokenGpu } from '../testing/broken-gpu.ts';
import { nodeGpu } from '../testing/node-gpu.ts';
import { writeOnnxModel } from '../testing/onnx-writer.ts';
import { HostTensor } from '../core/host-tensor.ts';
import { type LoadOptions, Session, Tensor } from './index.ts';

const SIZE = 64;

/** A product of rows, their softmax, and sums of it. */
const MODEL = writeOnnxModel({
  nodes: [
    { op: 'MatMul', name: 'scores', inputs: ['x', 'w'], outputs: ['s'] },
    { op: 'Softmax', name: 'weigh', inputs: ['s'], outputs: ['p'] },
    { op: 'CumSum', name: 'add', inputs: ['p', 'axis'], outputs: ['y'] },
  ],
  inputs: [{ name: 'x', shape: [4, SIZE] }],
  outputs: ['y'],
  initializers: {
    w: HostTensor.from(
      'float32',
      [SIZE, SIZE],
      Array.from({ length: SIZE * SIZE }, (_, i) => Math.cos(i) / 8),
    ),
    axis: HostTensor.from('int64', [], [1n]),
  },
});

const x = new Tensor(
  'float32',
  Float32Array.from({ length: 4 * SIZE }, (_, i) => Math.sin(i)),
  [4, SIZE],
);

const open = (options: LoadOptions) => Session.load(MODEL, { worker: false, ...options });

test.each(['host', 'wasm'] as const)('nothing departs from %s', async (against) => {
  const gpu = await nodeGpu();
  for (const options of [{ device: 'webgpu', gpu }, { device: 'wasm' }] as const) {
    const session = await open(options);
    const { departure, calls, largestError } = await session.compare({ x }, { against });
    expect(departure).toBe(undefined);
    expect(calls).toBe(3);
    expect(largestError).toBeLessThan(1e-5);
    // The session is as it was.
    expect((await session.run({ x }))['y']?.shape).toEqual([4, SIZE]);
    await session.dispose();
  }
});

test.each([
  ['matmul', 'scores'],
  ['softmax', 'weigh'],
  ['cumulative', 'add'],
])('a wrong kernel %s is named by its node', async (label, node) => {
  const { gpu, broken } = brokenGpu(await nodeGpu(), (name) => name.startsWith(label));
  const session = await open({ device: 'webgpu', gpu });
  const { departure } = await session.compare({ x });
  expect([...broken]).toHaveLength(1);
  expect(departure).toMatchObject({ sources: [`node "${node}"`], nans: 0, infinities: 0 });
  expect(departure?.relativeError).toBeGreaterThan(0.001);
  // What is further from right than this is none of its business.
  expect((await session.compare({ x }, { tolerance: 1 })).departure).toBe(undefined);
  await session.dispose();
});

test('an input becomes smaller as long as the same kernel departs', async () => {
  const { gpu } = brokenGpu(await nodeGpu(), (name) => name.startsWith('matmul'));
  const session = await open({ device: 'webgpu', gpu });
  const { departure, reduced } = await session.compare({ x }, { reduce: true });
  const smaller = reduced?.['x'];
  if (!(smaller instanceof Tensor)) throw new Error('there is no smaller input');
  expect([...smaller.data].filter((element) => Number(element) !== 0).length).toBeLessThanOrEqual(
    1,
  );
  const again = await session.compare({ x: smaller });
  expect(again.departure?.sources).toEqual(departure?.sources);
  await session.dispose();
});

test('misuse', async () => {
  const session = await open({ device: 'host' });
  const against = 'webgpu' as 'wasm';
  await expect(session.compare({ x }, { against })).rejects.toThrow(
    'compare: got against "webgpu", expected "host" or "wasm"',
  );
  await expect(session.compare({ x }, { tolerance: 0 })).rejects.toThrow(
    'compare: got tolerance 0, expected a number above 0',
  );
  await expect(session.compare({ x: Tensor.from([1]) })).rejects.toMatchObject({
    name: 'ShapeError',
  });
  await session.dispose();
});
