import { expect, test } from 'vitest';
import type { AdapterClass } from '../../core/contracts/launch-plan.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import { lowerReduceAxes } from './reduce-lowering.ts';
import { plannerCaps } from '../../testing/planner-caps.ts';

const kernels = (adapterClass: AdapterClass, shape: Shape, axes: readonly number[]) =>
  lowerReduceAxes(
    {
      inputs: [{ dtype: 'float32', shape }],
      output: { dtype: 'float32', shape: shape.filter((_, axis) => !axes.includes(axis)) },
      attributes: {},
      caps: plannerCaps(adapterClass),
    },
    'sum',
    axes,
  ).map(
    ({ name, reads, writes, params, workgroupSize: [size] }) =>
      `${name} of ${size} x ${params.count?.value} by ${reads[0]?.width} into ${writes[0]?.width}`,
  );

test.each<[AdapterClass, Shape, readonly number[], readonly string[]]>([
  ['software', [1024, 1024], [1], ['reduce-direct of 64 x 1024 by 4 into 1']],
  ['software', [1024, 1023], [1], ['reduce-direct of 64 x 1024 by 1 into 1']],
  [
    'software',
    [1024, 1024],
    [0],
    ['reduce-direct of 64 x 512 by 4 into 1', 'reduce-direct of 64 x 1024 by 1 into 1'],
  ],
  [
    'software',
    [1024, 1024],
    [0, 1],
    ['reduce-direct of 64 x 512 by 4 into 1', 'reduce-direct of 64 x 1 by 1 into 1'],
  ],
  ['software', [7, 9], [0, 1], ['reduce-direct of 64 x 1 by 1 into 1']],
  ['integrated', [1024, 1024], [1], ['reduce-workgroup of 256 x 1024 by 1 into 1']],
  ['integrated', [1024, 100], [1], ['reduce-workgroup of 64 x 1024 by 1 into 1']],
  ['integrated', [1024, 60], [1], ['reduce-direct of 64 x 1024 by 4 into 1']],
  [
    'integrated',
    [1 << 20],
    [0],
    ['reduce-workgroup of 256 x 128 by 1 into 1', 'reduce-workgroup of 256 x 1 by 1 into 1'],
  ],
  [
    'discrete',
    [1 << 24],
    [0],
    ['reduce-workgroup of 256 x 1024 by 1 into 1', 'reduce-workgroup of 256 x 1 by 1 into 1'],
  ],
  [
    'discrete',
    [4096, 4096],
    [0],
    ['reduce-direct of 64 x 65536 by 4 into 1', 'reduce-workgroup of 64 x 4096 by 1 into 1'],
  ],
])('%s reduces %j over %j', (adapterClass, shape, axes, expected) => {
  expect(kernels(adapterClass, shape, axes)).toEqual(expected);
});
