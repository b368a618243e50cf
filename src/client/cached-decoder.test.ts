import { expect, test } from 'vitest';
import { firstDifference } from '../core/tensor/all-close.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { compileOnnx } from '../frontend/onnx/compile-onnx.ts';
import { sharedNodeGpu } from '../testing/node-gpu.ts';
import { type OnnxNodeSpec, writeOnnxModel } from '../testing/onnx-writer.ts';
import { DeviceTensor } from './values/device-tensor.ts';
import { Session } from './session.ts';
import { Tensor } from './values/tensor.ts';

const [HEADS, GROUPS, SIZE] = [6, 2, 8];

/** Heads of keys or values for each head of queries, as exporters write it. */
const repeated = (name: string): OnnxNodeSpec[] => [
  { op: 'Unsqueeze', inputs: [`present.${name}`, 'two'], outputs: [`${name}.one`] },
  { op: 'Shape', inputs: [`present.${name}`], outputs: [`${name}.shape`] },
  { op: 'Slice', inputs: [`${name}.shape`, 'zero', 'two'], outputs: [`${name}.first`] },
  { op: 'Slice', inputs: [`${name}.shape`, 'two', 'four'], outputs: [`${name}.last`] },
  {
    op: 'Concat',
    inputs: [`${name}.first`, 'count', `${name}.last`],
    outputs: [`${name}.sizes`],
    attributes: { axis: 0 },
  },
  { op: 'Expand', inputs: [`${name}.one`, `${name}.sizes`], outputs: [`${name}.many`] },
  { op: 'Reshape', inputs: [`${name}.many`, 'heads'], outputs: [`${name}.all`] },
];

/** Attention of a decoder with a cache: a step has one row. */
const MODEL = writeOnnxModel({
  inputs: [
    { name: 'q', dtype: 'float32', shape: ['batch', HEADS, 1, SIZE] },
    ...['k', 'v'].flatMap((name) => [
      { name, dtype: 'float32' as const, shape: ['batch', GROUPS, 1, SIZE] },
      { name: `past.${name}`, dtype: 'float32' as const, shape: ['batch', GROUPS, 'past', SIZE] },
    ]),
  ],
  initializers: {
    zero: HostTensor.from('int64', [1], [0]),
    two: HostTensor.from('int64', [1], [2]),
    four: HostTensor.from('int64', [1], [4]),
    count: HostTensor.from('int64', [1], [HEADS / GROUPS]),
    heads: HostTensor.from('int64', [4], [0, HEADS, -1, SIZE]),
    scale: HostTensor.from('float32', [], [0.5]),
  },
  nodes: [
    ...['k', 'v'].flatMap((name) => [
      {
        op: 'Concat',
        inputs: [`past.${name}`, name],
        outputs: [`present.${name}`],
        attributes: { axis: 2 },
      },
      ...repeated(name),
    ]),
    {
      op: 'Transpose',
      inputs: ['k.all'],
      outputs: ['k.turned'],
      attributes: { perm: [0, 1, 3, 2] },
    },
    { op: 'MatMul', inputs: ['q', 'k.turned'], outputs: ['products'] },
    { op: 'Mul', inputs: ['products', 'scale'], outputs: ['scores'] },
    { op: 'Softmax', inputs: ['scores'], outputs: ['weights'], attributes: { axis: -1 } },
    { op: 'MatMul', inputs: ['weights', 'v.all'], outputs: ['y'] },
  ],
  outputs: ['y', 'present.k', 'present.v'],
});

const values = (count: number, phase: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => Math.sin(i * 0.7 + phase));

/** The rows of a step, and a cache of those of the steps before it. */
function inputsOf(step: number) {
  const past = (phase: number): Tensor => {
    const rows = Array.from({ length: step }, (_, n) => values(GROUPS * SIZE, n + phase));
    const data = [0, 1].flatMap((group) =>
      rows.flatMap((row) => [...row.subarray(group * SIZE, (group + 1) * SIZE)]),
    );
    return new Tensor('float32', Float32Array.from(data), [1, GROUPS, step, SIZE]);
  };
  return {
    q: new Tensor('float32', values(HEADS * SIZE, step), [1, HEADS, 1, SIZE]),
    k: new Tensor('float32', values(GROUPS * SIZE, step), [1, GROUPS, 1, SIZE]),
    v: new Tensor('float32', values(GROUPS * SIZE, step + 50), [1, GROUPS, 1, SIZE]),
    'past.k': past(0),
    'past.v': past(50),
  };
}

test('a decoder with repeated heads is one kernel, which reads caches where they lie', () => {
  const { primitives, functionTable } = compileOnnx(MODEL, { verify: true });
  expect(primitives.map(({ name }) => name)).toEqual(['scaled_dot_product_attention']);
  expect(functionTable.filter(({ name }) => name === 'vm.builtin.append').length).toBe(1);
});

test.each(['webgpu', 'wasm', 'host'] as const)('its steps on %s', async (device) => {
  const gpu = device === 'webgpu' ? { gpu: await sharedNodeGpu() } : {};
  const session = await Session.load(MODEL, { worker: false, device, ...gpu });
  const reference = await Session.load(MODEL, { worker: false, device: 'host' });
  let caches: Record<string, Tensor | DeviceTensor> = {};
  const live: number[] = [];
  for (let step = 0; step < 12; step++) {
    const inputs = inputsOf(step);
    const expected = await reference.run(inputs);
    const { y, ...present } = await session.run(
      { ...inputs, ...caches },
      { keep: ['present.k', 'present.v'], donate: ['past.k', 'past.v'] },
    );
    caches = { 'past.k': present['present.k'], 'past.v': present['present.v'] };
    const want = { rtol: 1e-4, atol: 1e-5 };
    expect(firstDifference(hostOf(y), hostOf(expected['y']), want), `step ${step}`).toBeUndefined();
    live.push((await session.memory()).liveBytes);
  }
  // The caches double twice.
  expect(new Set(live).size).toBeLessThan(7);
  for (const one of Object.values(caches)) if (one instanceof DeviceTensor) one.dispose();
  await Promise.all([session.dispose(), reference.dispose()]);
});

function hostOf(tensor: unknown): HostTensor {
  if (!(tensor instanceof Tensor)) throw new Error('no tensor');
  return HostTensor.from('float32', tensor.shape, [...tensor.data].map(Number));
}
