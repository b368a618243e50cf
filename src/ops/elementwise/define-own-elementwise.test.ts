import { expect, test } from 'vitest';
import { defineElementwise, formula as f } from '../index.ts';

const inputs = [{ name: 'x', dtypes: ['float32' as const] }];

test.each<[string, object, string]>([
  [
    'attributes that it does not declare',
    f.mul(f.operand(0), f.attribute('slpoe')),
    'defineElementwise mine: got the attribute slpoe in the formula, expected one of slope. Did you mean slope?',
  ],
  ['inputs that it does not have', f.operand(1), 'got input 1 in the formula, expected one of 0.'],
  [
    'functions that there are not',
    { kind: 'intrinsic', name: 'tahn', operands: [f.operand(0)] },
    'got the function tahn in the formula, expected one of exp, log,',
  ],
])('a formula reads no %s', (_, formula, message) => {
  const attributes = { slope: { type: 'float' as const, default: 1 } };
  expect(() =>
    defineElementwise({ name: 'mine', inputs, attributes, scalar: { formula: formula as never } }),
  ).toThrow(message);
});

test('a part of a definition that does not exist is refused', () => {
  const spec = { name: 'mine', inputs, scalar: { formula: f.operand(0) }, atributes: {} };
  expect(() => defineElementwise(spec)).toThrow('got an unknown option "atributes"');
});
