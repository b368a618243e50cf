import { expect, test } from 'vitest';
import { kernelTimes } from './kernel-times.ts';

const launch = (primitive: string, durationMs: number | undefined) => ({
  primitive,
  label: `${primitive}.wgsl`,
  workgroups: [4, 1, 1] as const,
  durationMs,
});

test('launches of a kernel are added up, the longest first', () => {
  expect(kernelTimes([launch('add', 1), launch('matmul', 5), launch('add', 2)])).toEqual([
    { kernel: 'matmul', launches: 1, totalMs: 5 },
    { kernel: 'add', launches: 2, totalMs: 3 },
  ]);
  expect(kernelTimes([launch('add', 1), launch('add', undefined)])).toEqual([
    { kernel: 'add', launches: 2, totalMs: undefined },
  ]);
});
