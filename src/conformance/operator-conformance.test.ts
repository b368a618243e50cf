import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  coreOperators,
  defineElementwise,
  defineOp,
  formula as f,
  type Operator,
  Operators,
} from '../ops/index.ts';
import { createDevice } from '../worker/index.ts';
import { type ConformanceOptions, type OpCase, operatorConformance } from './index.ts';

// As somebody outside would: nothing but the entries of the package.

const squareplus = defineElementwise({
  name: 'squareplus',
  inputs: [{ name: 'x', dtypes: ['float32'] }],
  attributes: { b: { type: 'float', default: 4 } },
  scalar: {
    formula: f.mul(0.5, f.add(f.X, f.sqrt(f.add(f.mul(f.X, f.X), f.attribute('b'))))),
  },
  tolerance: { rtol: 1e-5, atol: 1e-6 },
});

const shrink: Operator = {
  ...defineOp({
    name: 'shrink_to',
    kind: 'opaque',
    inputs: [{ name: 'x', dtypes: ['float32'] }],
    attributes: { limit: { type: 'float' } },
    infer: ([x]) => ({ dtype: 'float32', shape: x?.shape ?? [] }),
    tolerance: { rtol: 0, atol: 0 },
  }),
  composition: ({ attributes }) =>
    `let %limit = ${Number(attributes['limit']).toFixed(3)}f;
     minimum(maximum(%x, neg(%limit)), %limit)`,
};

const CASES: readonly OpCase[] = [
  { title: 'a matrix', inputs: [{ dtype: 'float32', shape: [3, 5] }] },
  { title: 'a number', inputs: [{ dtype: 'float32', shape: [], values: [-2] }] },
  { title: 'no elements', inputs: [{ dtype: 'float32', shape: [0, 4] }] },
];
const BAD: readonly OpCase[] = [
  { title: 'integers', inputs: [{ dtype: 'int32', shape: [2] }] },
  { title: 'two operands', inputs: CASES.flatMap(({ inputs }) => inputs) },
];

const table = (operator: Operator) => new Operators([...coreOperators, operator]);

describe.each(['host', 'wasm'] as const)('on %s', (kind) => {
  const opened: ConformanceOptions['devices'][string][] = [];
  const devicesFor = async (operators: Operators): Promise<ConformanceOptions['devices']> => {
    const device = await createDevice(kind, undefined, { operators });
    opened.push(device);
    return { [kind]: device };
  };
  let devices: ConformanceOptions['devices'];
  beforeAll(async () => {
    devices = await devicesFor(table(squareplus));
  });
  afterAll(() => {
    for (const device of opened) device.destroy();
  });

  test('a formula conforms, in float16 too', async () => {
    const options = { cases: CASES, badCases: BAD, devices };
    const { failures, results, operator } = await operatorConformance(squareplus, options);
    expect(failures).toEqual([]);
    expect(operator).toBe('squareplus');
    expect(new Set(results.map(({ form }) => form))).toEqual(
      new Set(['call', 'symbolic sizes', 'fused', 'refused']),
    );
    expect(results.filter(({ device }) => device === kind).length).toBeGreaterThan(8);
    expect(results.some(({ title }) => title.includes('float32 as float16'))).toBe(true);
  });

  test('a composition is compared with what it means', async () => {
    const cases = CASES.map((each) => ({ ...each, attributes: { limit: 1.5 } }));
    const { failures, results } = await operatorConformance(shrink, { cases, devices });
    expect(failures).toEqual([]);
    const compared = results.filter(({ skipped }) => skipped === undefined);
    expect(compared.length).toBeGreaterThan(5);
  });

  test('an operator of the core needs no table', async () => {
    const relu = coreOperators.find(({ name }) => name === 'relu');
    if (relu === undefined) throw new Error('internal: no relu');
    const options = { cases: CASES.slice(0, 1), devices, dtypes: false };
    const { failures, results } = await operatorConformance(relu, options);
    expect(failures).toEqual([]);
    expect(results.length).toBeGreaterThan(2);
  });

  test('an operator that the device computes otherwise does not conform', async () => {
    const other = { ...squareplus, scalar: { formula: f.add(f.X, 1) } };
    const operators = table(other);
    const report = await operatorConformance(squareplus, {
      cases: CASES.slice(0, 1),
      badCases: [{ title: 'floats', inputs: [{ dtype: 'float32', shape: [2] }] }],
      devices: await devicesFor(operators),
      dtypes: false,
    });
    expect(report.failures).toHaveLength(4);
    expect(report.failures[0]).toMatch(
      new RegExp(`^a matrix \\(call\\) on ${kind}: 15 of 15 elements differ`),
    );
    expect(report.failures[3]).toBe('floats (refused) on the compiler: the shape rule accepts it');
  });
});

test.each<[string, unknown, unknown, string]>([
  ['no cases', squareplus, { cases: [], devices: {} }, 'got cases [], expected a list with at'],
  ['another name', squareplus, { cases: [{}], device: {} }, 'Did you mean devices?'],
  ['a name in place of an operator', 'squareplus', { cases: [{}], devices: {} }, 'an operator'],
])('%s is refused', async (_, operator, options, message) => {
  const refused = operatorConformance(operator as never, options as never);
  await expect(refused).rejects.toThrow(`operatorConformance: got`);
  await expect(refused).rejects.toThrow(message);
});
