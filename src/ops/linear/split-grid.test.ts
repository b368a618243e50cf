import { expect, test } from 'vitest';
import type { KernelSpec } from '../lowering/lowering.ts';
import { splitGrid } from './split-grid.ts';

const caps = { maxComputeWorkgroupsPerDimension: 10 };

function pieces(workgroups: KernelSpec['workgroups']): number[][] {
  const kernel: KernelSpec = {
    name: 'kernel',
    source: '',
    constants: {},
    params: {},
    workgroupSize: [64, 1, 1],
    workgroups,
    reads: [],
    writes: [],
  };
  return splitGrid(kernel, caps).map(({ params, workgroups: grid }) => [
    ...['first_x', 'first_y', 'first_z'].map((name) => params[name]?.value ?? -1),
    ...grid,
  ]);
}

test('a grid that fits stays whole, an empty one too', () => {
  expect(pieces([10, 1, 3])).toEqual([[0, 0, 0, 10, 1, 3]]);
  expect(pieces([0, 1, 1])).toEqual([[0, 0, 0, 0, 1, 1]]);
});

test('pieces cover a larger grid once', () => {
  expect(pieces([21, 2, 11])).toEqual([
    [0, 0, 0, 10, 2, 10],
    [10, 0, 0, 10, 2, 10],
    [20, 0, 0, 1, 2, 10],
    [0, 0, 10, 10, 2, 1],
    [10, 0, 10, 10, 2, 1],
    [20, 0, 10, 1, 2, 1],
  ]);
});
