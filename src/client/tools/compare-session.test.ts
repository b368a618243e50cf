import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { compile, parseModule } from '../../compiler/index.ts';
import { brokenGpu } from '../../testing/broken-gpu.ts';
import { nodeGpu, sharedNodeGpu } from '../../testing/node-gpu.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { type LoadOptions, Session, Tensor } from '../index.ts';

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
  const gpu = await sharedNodeGpu();
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
  // A departure within the tolerance does not count.
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

/** A fused kernel: a sum, its absolute value, a product and a sine. */
const FUSED = writeOnnxModel({
  nodes: [
    { op: 'Add', name: 'shift', inputs: ['x', 'b'], outputs: ['shifted'] },
    { op: 'Abs', name: 'size', inputs: ['shifted'], outputs: ['sized'] },
    { op: 'Mul', name: 'scale', inputs: ['sized', 'shifted'], outputs: ['scaled'] },
    { op: 'Sin', name: 'wave', inputs: ['scaled'], outputs: ['y'] },
  ],
  inputs: [{ name: 'x', shape: [4, SIZE] }],
  outputs: ['y'],
  initializers: { b: HostTensor.from('float32', [1], [0.25]) },
});

const elementsOf = (compute: (element: number) => number) =>
  new Tensor(
    'float32',
    Float32Array.from(x.data as Float32Array, (element) => compute(element)),
    x.shape,
  );
const shifted = elementsOf((element) => element + 0.25);
const scaled = elementsOf((element) => Math.abs(element + 0.25) * (element + 0.25));

test('of a fused kernel the first operator that departs by itself is named', async () => {
  // A kernel has the label of its last operator.
  const { gpu } = brokenGpu(await nodeGpu(), (name) => /^(abs|sin)/.test(name));
  const session = await Session.load(FUSED, { worker: false, device: 'webgpu', gpu });
  const { departure } = await session.compare({ x });
  expect(departure?.sources).toEqual(
    ['shift', 'size', 'scale', 'wave'].map((node) => `node "${node}"`),
  );
  expect(departure?.unfused).toMatchObject({ index: 1, operator: 'abs', source: 'node "size"' });
  await session.dispose();
});

test('values are traced by the names of the source, within a fused kernel too', async () => {
  for (const device of ['host', 'wasm'] as const) {
    const session = await Session.load(FUSED, { worker: false, device });
    const traced = await session.trace({ x }, { values: ['scaled', 'shift'] });
    expect(traced.map(({ name, isUnfused, call }) => [name, isUnfused, call])).toEqual([
      ['shift', true, 0],
      ['scaled', true, 0],
    ]);
    expect(traced[0]?.tensor.data).toEqual(shifted.data);
    expect(traced[1]?.tensor.shape).toEqual([4, SIZE]);
    const all = await session.trace({ x });
    expect(all.map(({ name, isUnfused }) => [name, isUnfused])).toEqual([['y', false]]);
    const { y } = await session.run({ x });
    expect(all[0]?.tensor.data).toEqual(y?.data);
    await expect(session.trace({ x }, { values: ['sized', 'z'] })).rejects.toThrow(
      /^trace: got values "z", expected names of the source that the program computes, such as .*\. The compiler leaves out values that are constant, or that it computes in another way\.$/,
    );
    await session.dispose();
  }
});

test('another session is compared by the names of values, whatever was fused', async () => {
  const { gpu } = brokenGpu(await nodeGpu(), (name) => name.startsWith('softmax'));
  const session = await open({ device: 'webgpu', gpu });
  const right = await open({ device: 'wasm' });
  const { departure, missing } = await session.compare({ x }, { against: right, reduce: true });
  expect(departure).toMatchObject({ value: 'p', sources: ['node "weigh"'], call: 1 });
  expect(missing).toEqual([]);
  expect(await right.compare({ x }, { against: right })).toMatchObject({
    departure: undefined,
    calls: 3,
    largestError: 0,
  });
  await session.dispose();
  await right.dispose();
});

test('values from elsewhere are compared, and what departs is named', async () => {
  const session = await Session.load(FUSED, { worker: false, device: 'host' });
  const wrong = new Tensor('float32', new Float32Array(4 * SIZE), [4, SIZE]);
  const right = { shifted, scaled, other: x };
  expect(await session.compare({ x }, { against: right })).toMatchObject({
    departure: undefined,
    calls: 2,
    missing: ['other'],
  });
  const { departure } = await session.compare({ x }, { against: { shifted, scaled: wrong } });
  expect(departure).toMatchObject({ value: 'scaled', expected: 0 });
  await expect(session.compare({ x }, { against: { other: x } })).rejects.toThrow(
    'compare: got only values that this program does not compute: "other"',
  );
  await expect(session.compare({ x }, { against: right, reduce: true })).rejects.toThrow(
    'compare: got reduce with expected values',
  );
  await session.dispose();
});

test.each(['host', 'wasm', 'webgpu'] as const)(
  'kernels that make their results themselves, on %s',
  async (device) => {
    const model = new Uint8Array(await readFile('models/detector/model.onnx'));
    const gpu = device === 'webgpu' ? { gpu: await sharedNodeGpu() } : {};
    const session = await Session.load(model, { worker: false, device, ...gpu });
    const image = new Tensor(
      'uint8',
      Uint8Array.from({ length: 48 * 48 * 3 }, (_, i) => (i * 37) % 256),
      [1, 48, 48, 3],
    );
    const before = await session.run({ image });
    const traced = await session.trace({ image });
    expect(traced.some(({ kernel }) => kernel.startsWith('non_max_suppression'))).toBe(true);
    const { departure, calls } = await session.compare({ image });
    expect({ departure, calls }).toEqual({ departure: undefined, calls: traced.length });
    expect(await session.run({ image })).toEqual(before);
    expect((await session.memory()).liveBytes).toBe(0);
    await session.dispose();
  },
);

test('a program that calls functions of JavaScript is traced', async () => {
  const program = compile(
    parseModule(`extern def @"my.size"() -> int
def @main(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32] {
  if (int_lt(@"my.size"(), #1)) { exp(%x) } else { relu(%x) }
}`),
  ).toBytes();
  const functions = { 'my.size': () => 2 };
  const session = await Session.load(program, { worker: false, device: 'host', functions });
  const [value] = await session.trace({ x: Tensor.from([-1, 3]) });
  expect([...(value?.tensor.data ?? [])]).toEqual([0, 3]);
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
