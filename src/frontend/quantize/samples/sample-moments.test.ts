import { describe, expect, test } from 'vitest';
import { Session, Tensor } from '../../../client/index.ts';
import { HostTensor } from '../../../core/host-tensor.ts';
import { seededRandom } from '../../../core/random.ts';
import { elementCount } from '../../../core/shape.ts';
import { type OnnxModelSpec, writeOnnxModel } from '../../../testing/onnx-writer.ts';
import { randomTensor } from '../../../testing/random-tensor.ts';
import { compileOnnx } from '../../index.ts';
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

async function outputsOf(bytes: Uint8Array, inputs: readonly HostTensor[]): Promise<number[]> {
  const session = await Session.load(compileOnnx(bytes).toBytes(), {
    device: 'host',
    worker: false,
  });
  const values: number[] = [];
  for (const { dtype, data, shape } of inputs) {
    const { y } = await session.run({ x: new Tensor(dtype, data, shape) });
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
