import { expect, test } from 'vitest';
import { chromeTrace, kernelTimes, runAdvice } from './kernel-times.ts';

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

test('the advice follows from where the time went', () => {
  expect(runAdvice([launch('add', 1)], 10)).toMatch(/^Kernels take 10% of the run; the rest/);
  expect(runAdvice([launch('add', 1), launch('matmul', 8)], 10)).toBe(
    'Kernels take 90% of the run; matmul has 89% of that. session.tune looks for faster variants.',
  );
  expect(runAdvice([launch('add', undefined)], 10)).toMatch(/^The device gives no times/);
});

test('a trace has each launch behind the one before', () => {
  const { traceEvents } = JSON.parse(
    chromeTrace([launch('add', 1), launch('matmul', 5)], { totalMs: 9, device: 'host' }),
  );
  const spans = traceEvents.filter(({ ph }: { ph: string }) => ph === 'X');
  expect(spans.map(({ name, ts, dur }: Record<string, unknown>) => [name, ts, dur])).toEqual([
    ['run', 0, 9000],
    ['add', 0, 1000],
    ['matmul', 1000, 5000],
  ]);
  expect(spans[2].args).toEqual({ launch: 1, label: 'matmul.wgsl', workgroups: '4 x 1 x 1' });
});
