import { expect, test } from 'vitest';
import { deepProgram } from '../testing/deep-program.ts';
import { functionCode } from './function-code.ts';

test('instructions know their source and their kernel', () => {
  const { lines, sources, kernels } = functionCode(deepProgram(13), 'main');
  const calls = lines.filter(({ kernel }) => kernel !== undefined);
  expect(calls).toHaveLength(13);
  expect(calls[4]).toMatchObject({ kernel: 'matmul', isMinor: false });
  expect(calls[4]?.sources.map((source) => sources[source])).toEqual([
    'node "/layers.0/attention/scores"',
  ]);
  expect(calls[4]?.text).toMatch(/^14: call matmul\(/);
  expect(lines.filter(({ isMinor }) => isMinor)).toHaveLength(26);
  expect(kernels['softmax']).toBe(
    'primitive softmax(%0: Tensor[(8, 8), float32]) -> (%1: Tensor[(8, 8), float32]) {\n' +
      '  %1 = softmax(%0) {axis: -1}\n}\n',
  );
});

test('a function that does not exist has no code', () => {
  expect(functionCode(deepProgram(1), 'other')).toEqual({ lines: [], sources: [], kernels: {} });
});
