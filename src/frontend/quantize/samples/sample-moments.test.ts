import { describe, expect, test } from 'vitest';
import { Session, Tensor } from '../../../client/index.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../../core/random.ts';
import { elementCount } from '../../../core/tensor/shape.ts';
import {
  type OnnxGraphSpec,
  type OnnxModelSpec,
  writeOnnxModel,
} from '../../../testing/onnx-writer.ts';
import { randomTensor } from '../../../testing/random-tensor.ts';
import { compileOnnx, observeOnnx } from '../../index.ts';
import { quantizeOnnx } from '../quantize-onnx.ts';
import { SampleMoments } from './sample-moments.ts';

const SAMPLES = 16;

const conv: OnnxModelSpec = {
  inputs: [{ name: 'x', shape: [1, 8, 9, 9] }],
  nodes: [
    {
      op: 'Conv',
      name: 'layer',
      inputs: ['x', 'w'],
      outputs: ['y'],
      attributes: { group: 2, pads: [1, 1, 1, 1] },
    },
  ],
  initializers: { w: randomTensor([12, 4, 3, 3], 1) },
  outputs: ['y'],
};

const product: OnnxModelSpec = {
  inputs: [{ name: 'x', shape: [4, 72] }],
  nodes: [{ op: 'MatMul', name: 'layer', inputs: ['x', 'w'], outputs: ['y'] }],
  initializers: { w: randomTensor([72, 24], 2) },
  outputs: ['y'],
};

/** Inputs of which neighbours go along with each other, as in pictures and behind a layer. */
function sampleOf({ inputs }: OnnxModelSpec, seed: number): HostTensor {
  const shape = inputs?.[0]?.shape as number[];
  const random = seededRandom(seed);
  let last = 0;
  const data = Float32Array.from({ length: elementCount(shape) }, () => {
    last = 0.9 * last + random();
    return last;
  });
  return new HostTensor('float32', shape, data);
}

async function outputsOf(
  bytes: Uint8Array,
  inputs: readonly HostTensor[],
  others: Readonly<Record<string, HostTensor>> = {},
): Promise<number[]> {
  const session = await Session.load(compileOnnx(bytes).toBytes(), {
    device: 'host',
    worker: false,
  });
  const values: number[] = [];
  const given = (tensor: HostTensor): Tensor => new Tensor(tensor.dtype, tensor.data, tensor.shape);
  const rest = Object.fromEntries(
    Object.entries(others).map(([name, tensor]) => [name, given(tensor)]),
  );
  for (const x of inputs) {
    const { y } = await session.run({ ...rest, x: given(x) });
    values.push(...((y as Tensor).data as Float32Array));
  }
  await session.dispose();
  return values;
}

const distance = (a: readonly number[], b: readonly number[]): number =>
  Math.hypot(...a.map((value, i) => value - (b[i] ?? Number.NaN)));

describe.each([
  ['a convolution with groups', conv, {}],
  ['a product in blocks of 8 bits', product, {}],
  ['a product in blocks of 4 bits, symmetric', product, { bits: 4, symmetric: true }],
  ['a product in blocks of 4 bits', product, { bits: 4 }],
] as const)('%s', (_, spec, options) => {
  test('inputs like those of the samples see smaller errors', async () => {
    const bytes = writeOnnxModel(spec);
    const moments = new SampleMoments(bytes);
    expect(moments.values).toEqual(['x']);
    for (let i = 0; i < SAMPLES; i++) moments.add({ x: sampleOf(spec, i) }, SAMPLES);
    // Not those that were added.
    const inputs = Array.from({ length: 8 }, (_each, i) => sampleOf(spec, 1000 + i));
    const float = await outputsOf(bytes, inputs);
    const plain = await outputsOf(quantizeOnnx(bytes, options).model, inputs);
    const fed = await outputsOf(quantizeOnnx(bytes, { ...options, moments }).model, inputs);
    expect(distance(fed, float)).toBeLessThan(0.7 * distance(plain, float));
  });

  test('samples of other dtypes and sizes say nothing', () => {
    const bytes = writeOnnxModel(spec);
    const moments = new SampleMoments(bytes);
    moments.add({ x: HostTensor.from('int32', [4], [1, 2, 3, 4]) }, 1);
    moments.add({ x: HostTensor.from('float32', [4], [1, 2, 3, 4]) }, 1);
    moments.add({ other: sampleOf(spec, 1) }, 1);
    expect(moments.feedback('layer')).toBeUndefined();
    expect(quantizeOnnx(bytes, { ...options, moments }).model).toEqual(
      quantizeOnnx(bytes, options).model,
    );
  });
});

describe('layers in branches', () => {
  const branch = (weights: string): { graph: OnnxGraphSpec } => ({
    graph: {
      nodes: [{ op: 'MatMul', name: 'inner', inputs: ['h', weights], outputs: ['z'] }],
      outputs: ['z'],
    },
  });
  const spec = (elseWeights: string): OnnxModelSpec => ({
    inputs: [
      { name: 'c', shape: [], dtype: 'bool' },
      { name: 'x', shape: [4, 72] },
    ],
    nodes: [
      { op: 'Abs', inputs: ['x'], outputs: ['h'] },
      {
        op: 'If',
        inputs: ['c'],
        outputs: ['y'],
        attributes: { then_branch: branch('w'), else_branch: branch(elseWeights) },
      },
    ],
    initializers: { w: randomTensor([72, 24], 2), v: randomTensor([72, 24], 3) },
    outputs: ['y'],
  });
  const condition = (isTaken: boolean): HostTensor =>
    HostTensor.from('bool', [], [isTaken ? 1 : 0]);

  const tensorsOf = (values: Readonly<Record<string, unknown>>): Record<string, Tensor> =>
    Object.fromEntries(
      Object.entries(values).flatMap(([name, value]) =>
        value instanceof Tensor ? [[name, value]] : [],
      ),
    );

  /** Samples that take the first branch, and what they say. */
  async function momentsOf(bytes: Uint8Array): Promise<SampleMoments> {
    const moments = new SampleMoments(bytes);
    const session = await Session.load(
      compileOnnx(observeOnnx(moments.model, moments.values)).toBytes(),
      {
        device: 'host',
        worker: false,
      },
    );
    for (let i = 0; i < SAMPLES; i++) {
      const { dtype, data, shape } = sampleOf(product, i);
      const given = {
        c: new Tensor('bool', Uint8Array.of(1), []),
        x: new Tensor(dtype, data, shape),
      };
      moments.add({ ...given, ...tensorsOf(await session.run(given)) }, SAMPLES);
    }
    await session.dispose();
    return moments;
  }

  test('are rounded by the samples that take them, the others to the nearest', async () => {
    const bytes = writeOnnxModel(spec('v'));
    const moments = await momentsOf(bytes);
    const fed = quantizeOnnx(bytes, { moments });
    const plain = quantizeOnnx(bytes);
    expect(fed.layers.map(({ node, isInner, isSampled }) => [node, isInner, isSampled])).toEqual([
      ['inner', true, true],
      ['inner', true, false],
    ]);
    expect(plain.layers.map(({ isSampled }) => isSampled)).toEqual([undefined, undefined]);
    const inputs = Array.from({ length: 8 }, (_each, i) => sampleOf(product, 1000 + i));
    const outputs = (model: Uint8Array, isTaken: boolean) =>
      outputsOf(model, inputs, { c: condition(isTaken) });
    const [float, before, after] = await Promise.all(
      [bytes, plain.model, fed.model].map((model) => outputs(model, true)),
    );
    expect(distance(after ?? [], float ?? [])).toBeLessThan(
      0.7 * distance(before ?? [], float ?? []),
    );
    expect(await outputs(fed.model, false)).toEqual(await outputs(plain.model, false));
  });

  test('that read the same weights see the inputs of all of them', async () => {
    const bytes = writeOnnxModel(spec('w'));
    const { layers } = quantizeOnnx(bytes, { moments: await momentsOf(bytes) });
    expect(layers.map(({ isSampled }) => isSampled)).toEqual([true, true]);
  });
});
