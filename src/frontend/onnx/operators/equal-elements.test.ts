import { expect, test } from 'vitest';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { describeNodes, type NodeInput, type NodeRun } from '../testing/describe-nodes.ts';

const equal = (shape: readonly number[], value: number): NodeInput => {
  const count = shape.reduce((a, b) => a * b, 1);
  return { tensor: HostTensor.from('float32', shape, new Array(count).fill(value)), shape };
};

const different = (tensor: HostTensor | undefined) =>
  new Set(Array.from(tensor?.data ?? [], Number));

/** Sums of these do not fit a float32. */
const X = 0.1 + 1000;
const images = equal([2, 4, 7, 9], X);
const rows = equal([3, 77], X);
const ones = (size: number) => equal([size], 1);
const zeros = (size: number) => equal([size], 0);

const NODES: readonly NodeRun[] = [
  { op: 'LayerNormalization', inputs: [rows, ones(77), zeros(77)], outputCount: 1 },
  { op: 'InstanceNormalization', inputs: [images, ones(4), zeros(4)], outputCount: 1 },
  {
    op: 'GroupNormalization',
    opset: 21,
    inputs: [images, ones(4), zeros(4)],
    outputCount: 1,
    attributes: { num_groups: 2 },
  },
  { op: 'MeanVarianceNormalization', inputs: [images], outputCount: 1 },
  {
    op: 'BatchNormalization',
    inputs: [images, ones(4), zeros(4), zeros(4), ones(4)],
    outputCount: 3,
    attributes: { training_mode: 1 },
  },
  {
    op: 'SkipLayerNormalization',
    domain: 'com.microsoft',
    inputs: [rows, equal([3, 77], 0.3), ones(77), zeros(77)],
    outputCount: 1,
  },
];

describeNodes('equal elements are their mean exactly', (run) => {
  test.each(NODES.map((node) => [node.op, node] as const))('%s', async (_, node) => {
    const [y] = await run(node);
    expect(different(y)).toEqual(new Set([0]));
  });

  test('LayerNormalization gives their mean and no deviation', async () => {
    const [, mean, inverse] = await run({
      op: 'LayerNormalization',
      inputs: [rows, ones(77), zeros(77)],
      outputCount: 3,
      attributes: { epsilon: { float: 0.25 } },
    });
    expect(different(mean)).toEqual(new Set([Math.fround(X)]));
    expect(different(inverse)).toEqual(new Set([2]));
  });
});
