import { expect, test } from 'vitest';
import type { PrimitiveFunction } from '../core/contracts/primitive-function.ts';
import type { OperatorTable } from '../ops/operator.ts';
import { overwrittenInput } from './overwritten-input.ts';

/** `put` changes its first input in place, `add` none. */
const OPERATORS = {
  get: (name: string) => (name === 'put' ? { storage: { overwrites: 0 } } : {}),
} as unknown as OperatorTable;

const TYPE = { dtype: 'float32', shape: [4] } as const;

/** One call of an operator on parameters, whose result is returned unless others are. */
const call = (
  op: string,
  inputs: readonly number[],
  more: Partial<PrimitiveFunction> = {},
): PrimitiveFunction => ({
  name: 'f',
  params: [TYPE, TYPE],
  body: [{ op, inputs, attributes: {} }],
  results: [{ value: 2, type: TYPE }],
  ...more,
});

const overwritten = (primitive: PrimitiveFunction) => overwrittenInput(primitive, OPERATORS);

test('an operator that overwrites an input does so where it is called alone', () => {
  expect(overwritten(call('put', [0, 1]))).toBe(0);
  expect(overwritten(call('put', [1, 0]))).toBe(1);
  expect(overwritten(call('add', [0, 1]))).toBeUndefined();
});

test('an input that is read a second time is not overwritten', () => {
  expect(overwritten(call('put', [0, 0]))).toBeUndefined();
  expect(overwritten(call('put', [1, 0, 1]))).toBeUndefined();
});

test('nothing is overwritten beside other calls, other results, or where a parameter is returned', () => {
  const put = { op: 'put', inputs: [0, 1], attributes: {} };
  const body = [put, { op: 'add', inputs: [2, 1], attributes: {} }];
  expect(overwritten(call('put', [0, 1], { body }))).toBeUndefined();
  const results = [
    { value: 2, type: TYPE },
    { value: 1, type: TYPE },
  ];
  expect(overwritten(call('put', [0, 1], { results }))).toBeUndefined();
  expect(overwritten(call('put', [0, 1], { results: [{ value: 1, type: TYPE }] }))).toBeUndefined();
});

test('a primitive says by itself what it overwrites', () => {
  expect(overwritten(call('add', [0, 1], { inPlace: 1 }))).toBe(1);
});
