import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { sharedNodeGpu } from '../../src/testing/node-gpu.ts';
import { findCases } from '../conformance/find-cases.ts';
import { runCase } from '../conformance/run-case.ts';
import { modelFiles } from './main.ts';
import { convolution, layerNorm, maxPool, product, softmax } from './naive-layers.ts';
import { NaiveTensor } from './naive-tensor.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

describe('models of our own', () => {
  test('are what their scripts make, byte by byte, and nothing else', () => {
    const made = modelFiles();
    const differing = [...made].filter(
      ([path, bytes]) => Buffer.compare(bytes, readFileSync(join(root, path))) !== 0,
    );
    const paths = differing.map(([path]) => path);
    expect(paths, 'the compiler or a script changed: renew them by `npm run models`').toEqual([]);
    const found = readdirSync(join(root, 'models'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
    expect(found.filter((path) => !made.has(path))).toEqual(['models/README.md']);
  });

  test.each(['the host device', 'WebGPU'])('give what plain loops give, on %s', async (name) => {
    const cases = findCases(join(root, 'models'));
    expect(cases.map((found) => found.name)).toEqual(['detector', 'digits', 'transformer']);
    for (const found of cases) {
      const read = async (file: string) => new Uint8Array(readFileSync(join(found.folder, file)));
      const options =
        name === 'WebGPU'
          ? ({ device: 'webgpu', gpu: await sharedNodeGpu() } as const)
          : ({ device: 'host' } as const);
      const outcomes = await runCase(found, { ...options, worker: false, read });
      const reasons = outcomes.map(({ dataSet, reason }) => [found.name, dataSet, reason]);
      expect(reasons).toEqual(
        found.dataSets.map((dataSet) => [found.name, dataSet.name, undefined]),
      );
    }
  });
});

/** The layers that the expected results are made of, against numbers worked out by hand. */
describe('plain loops', () => {
  const naive = (shape: readonly number[], values: readonly number[]): NaiveTensor =>
    NaiveTensor.of(HostTensor.from('float64', shape, values));
  const values = (tensor: NaiveTensor): number[] => [...tensor.values];

  test('convolution pads with zeros, steps and keeps groups apart', () => {
    const image = naive([2, 2, 2], [1, 2, 3, 4, 10, 20, 30, 40]);
    const ones = naive([1, 2, 3, 3], Array<number>(18).fill(1));
    const bias = naive([1], [0.5]);
    expect(values(convolution(image, [ones, bias]))).toEqual([110.5, 110.5, 110.5, 110.5]);
    expect(values(convolution(image, [ones, bias], { stride: 2 }))).toEqual([110.5]);
    const twice = [naive([2, 1, 1, 1], [2, 3]), naive([2], [0, 1])] as const;
    expect(values(convolution(image, twice, { groups: 2 }))).toEqual([2, 4, 6, 8, 31, 61, 91, 121]);
  });

  test('pooling, products, softmax and layer norm', () => {
    expect(values(maxPool(naive([1, 2, 3], [1, 5, 9, 7, 3, 9]), 2))).toEqual([7]);
    expect(values(product(naive([1, 2], [1, 2]), naive([2, 2], [3, 4, 5, 6])))).toEqual([13, 16]);
    const shares = softmax(naive([2, 2], [0, Math.log(3), 1000, 1000]));
    for (const [i, expected] of [0.25, 0.75, 0.5, 0.5].entries()) {
      expect(shares.values[i]).toBeCloseTo(expected, 12);
    }
    const parts = [naive([2], [2, 3]), naive([2], [1, 0])] as const;
    expect(values(layerNorm(naive([1, 2], [1, 3]), parts, 0))).toEqual([-1, 3]);
  });
});
