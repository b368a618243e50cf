import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type DescribedOp, operatorsSource } from './testing/operators-source.ts';

const functionsOf = (...ops: readonly DescribedOp[]): string =>
  operatorsSource(ops).replace(/^[^]*?(?=\/\*\*)/, '');

const dtypes = ['float32'] as const;

test('operators.ts is what the tables say', () => {
  const text = readFileSync(new URL('operators.ts', import.meta.url), 'utf8');
  expect(text).toBe(operatorsSource());
});

test('an operator becomes a function of its inputs, with its summary', () => {
  const inputs = [
    { name: 'x', dtypes },
    { name: 'var', dtypes },
    { name: 'old_mean', dtypes, optional: true },
  ];
  const op = { name: 'batch_norm', summary: 'a \\\\| b, of */ c', inputs, attributes: {} };
  expect(functionsOf(op)).toMatchInlineSnapshot(`
    "/** a | b, of * / c. */
    export const batchNorm: (
      x: Operand,
      variance: Operand,
      oldMean?: Operand,
    ) => NdArray = /* @__PURE__ */ operator('batch_norm');
    "
  `);
});

test('attributes that have a default may be left out', () => {
  const attributes = {
    axis: { type: 'int', default: 0 },
    keep_dims: { type: 'bool', default: false },
    mode: { type: 'string', default: 'up', oneOf: ['up', 'down'] },
  } as const;
  const op = {
    name: 'reduce_sum',
    summary: 'The sum.',
    inputs: [{ name: 'x', dtypes }],
    attributes,
  };
  expect(functionsOf(op)).toMatchInlineSnapshot(`
    "/** The sum. */
    export const reduceSum: (
      x: Operand,
      attributes?: {
        readonly axis?: number;
        readonly keepDims?: boolean;
        readonly mode?: 'up' | 'down';
      },
    ) => NdArray = /* @__PURE__ */ operator('reduce_sum');
    "
  `);
});

test('where an attribute is required, inputs before it are given, as undefined if need be', () => {
  const inputs = [{ name: 'x', dtypes, optional: true }];
  const attributes = {
    shape: { type: 'dims' },
    pads: { type: 'ints', length: 2 },
    to: { type: 'dtype' },
    scales: { type: 'floats' },
    labels: { type: 'strings' },
  } as const;
  const op = { name: 'expand', summary: 'x of a shape', inputs, attributes };
  expect(functionsOf(op)).toMatchInlineSnapshot(`
    "/** x of a shape. */
    export const expand: (
      x: Operand | undefined,
      attributes: {
        readonly shape: readonly Dim[];
        readonly pads: readonly [number, number];
        readonly to: DType;
        readonly scales: readonly number[];
        readonly labels: readonly string[];
      },
    ) => NdArray = /* @__PURE__ */ operator('expand');
    "
  `);
});

test('inputs that repeat are a list', () => {
  const inputs = [{ name: 'inputs', dtypes, variadic: true }];
  const op = { name: 'concat', summary: 'All.', inputs, attributes: {} };
  expect(functionsOf(op)).toMatchInlineSnapshot(`
    "/** All. */
    export const concat: (
      inputs: readonly Operand[],
    ) => NdArray = /* @__PURE__ */ variadic('concat');
    "
  `);
});
