import { expect, test } from 'vitest';
import { coreOperators } from './tables/core-operators.ts';
import { defineOp } from './define-op.ts';
import * as own from './index.ts';
import type { Operator } from './operator.ts';
import { Operators } from './operators.ts';

const mine: Operator = {
  ...defineOp({
    name: 'mine',
    kind: 'opaque',
    inputs: [{ name: 'x', dtypes: ['float32'] }],
    attributes: {},
    infer: ([x]) => ({ dtype: 'float32', shape: x?.shape ?? [] }),
    tolerance: { rtol: 0, atol: 0 },
  }),
  composition: () => '%x',
};

const x = { name: 'x', dtypes: ['float32'] } as const;

test('a table has the operators that it was made of, in order', () => {
  const operators = new Operators([...coreOperators, mine]);
  expect(operators.get('mine')).toBe(mine);
  expect(operators.require('add')).toBe(coreOperators.find(({ name }) => name === 'add'));
  expect(operators.names().at(-1)).toBe('mine');
  expect([...operators].length).toBe(coreOperators.length + 1);
  expect(operators.hasCompositions).toBe(true);
  expect(new Operators(coreOperators).hasCompositions).toBe(false);
  expect(() => operators.require('other')).toThrow('operator other');
});

test.each<[string, readonly Operator[]]>([
  ['two of one name', [mine, mine]],
  ['a name that programs cannot spell', [{ ...mine, name: 'Mine' }]],
  ['two inputs of one name', [{ ...mine, inputs: [x, x] }]],
  ['an input of no dtypes', [{ ...mine, inputs: [{ ...x, dtypes: [] }] }]],
  [
    'a variadic input before another',
    [
      {
        ...mine,
        inputs: [
          { ...x, variadic: true },
          { ...x, name: 'y' },
        ],
      },
    ],
  ],
  ['a tolerance below nothing', [{ ...mine, tolerance: { rtol: -1, atol: 0 } }]],
  ['nothing that says what it computes', [{ ...mine, composition: undefined }]],
  ['a composition with a kernel', [{ ...mine, kind: 'anchor' }]],
  [
    'an elementwise one without a formula',
    [{ ...mine, composition: undefined, kind: 'elementwise' }],
  ],
  ['an injective one without a map', [{ ...mine, composition: undefined, kind: 'injective' }]],
  ['an anchor without kernels', [{ ...mine, composition: undefined, kind: 'anchor' }]],
  ['a dynamic one without a reference', [{ ...mine, composition: undefined, kind: 'dynamic' }]],
])('refuses %s', (_, operators) => {
  expect(() => new Operators(operators)).toThrowErrorMatchingSnapshot();
});

const untyped = (value: unknown): never => value as never;
const elementwise = (formula: unknown): unknown =>
  own.defineElementwise({ name: 'e', inputs: [x], scalar: { formula: untyped(formula) } });

test.each<[string, () => unknown, string]>([
  [
    'nothing',
    () => own.defineOp(untyped(undefined)),
    'defineOp undefined: got undefined, expected',
  ],
  [
    'an unknown part',
    () => own.defineOp(untyped({ name: 'mine', atributes: {} })),
    'defineOp mine: got an unknown option "atributes", expected only name,',
  ],
  [
    'inputs that are names',
    () => own.defineOp(untyped({ name: 'mine', inputs: ['x'] })),
    'defineOp mine: got inputs ["x"], expected a list, each { name, dtypes }.',
  ],
  [
    'a type of attributes',
    () => own.defineOp(untyped({ name: 'mine', attributes: { b: { type: 'number' } } })),
    'expected { type } by their names, one of int, ints,',
  ],
  [
    'null as an attribute',
    () => own.defineOp(untyped({ name: 'mine', attributes: { b: null } })),
    'expected { type } by their names, one of int, ints,',
  ],
  [
    'no list',
    () => new Operators(untyped({ a: 1 })),
    'Operators: got what is {"a":1}, expected a list',
  ],
  [
    'a text as formula',
    () => elementwise('x * 2'),
    'defineElementwise e: got the formula "x * 2",',
  ],
  [
    'a missing operand',
    () => elementwise(own.formula.add(own.formula.X, untyped(undefined))),
    'got in the formula, an operand that is undefined, expected what the functions of formula make.',
  ],
  [
    'a scalar without a formula',
    () => own.defineElementwise(untyped({ name: 'e', inputs: [x], scalar: {} })),
    'got a scalar that is {}, expected a formula, or wgsl.',
  ],
])('%s defines nothing', (_, misuse, message) => {
  expect(misuse).toThrow(message);
});
