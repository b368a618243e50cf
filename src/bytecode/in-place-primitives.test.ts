import { expect, test } from 'vitest';
import type { PrimitiveFunction } from '../core/contracts/primitive-function.ts';
import { ExecBuilder } from './build/exec-builder.ts';
import { Executable } from './file/executable-file.ts';

import { verifyPrimitives } from './verify/verify-primitives.ts';

const MATRIX = { dtype: 'float32', shape: ['n', 2] } as const;
const ROW = { dtype: 'float32', shape: [2] } as const;
const ADD: PrimitiveFunction = {
  name: 'add',
  params: [ROW, MATRIX],
  body: [{ op: 'add', inputs: [0, 1], attributes: {} }],
  results: [{ value: 2, type: MATRIX }],
  inPlace: 1,
};

test('the parameter that a result may lie in is stored and printed', () => {
  const builder = new ExecBuilder();
  builder.primitive(ADD);
  const built = builder.build();
  const read = Executable.fromBytes(built.toBytes());
  expect(read.primitives).toEqual([ADD]);
  const text = read.toText();
  expect(text).toContain('-> (%2: Tensor[(n, 2), float32]) over %1 {');
  expect(Executable.fromText(text).primitives).toEqual([ADD]);
});

test.each([
  ['of another type', 0],
  ['that there is not', 2],
])('a parameter %s is refused', (_, inPlace) => {
  expect(() => verifyPrimitives([{ ...ADD, inPlace }])).toThrow(
    `primitive add: got %${inPlace} as the memory of its result, expected one result, and a parameter of its type`,
  );
});
