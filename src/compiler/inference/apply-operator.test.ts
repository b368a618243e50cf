import { expect, test } from 'vitest';
import type { Dim } from '../../core/dims/dim.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { applyOperator } from './apply-operator.ts';

const float = (...shape: Dim[]) => ({ dtype: 'float32', shape }) as const;
const shapeOf = (op: string, shape: readonly Dim[], attributes: Attributes = {}) =>
  applyOperator(op, [float(...shape)], attributes).output.shape;

test('equal calls share their type, whoever made their dimensions', () => {
  const sum = (): Dim => ({ op: 'add', left: 'n', right: 1 });
  const first = applyOperator('relu', [float(sum(), 4)], {});
  expect(applyOperator('relu', [float(sum(), 4)], {})).toBe(first);
  expect(applyOperator('neg', [float(sum(), 4)], {})).not.toBe(first);
  expect(first.output).toEqual(float(sum(), 4));
});

test('symbols that are named like arithmetic, numbers or lists are told apart', () => {
  const sum: Dim = { op: 'add', left: 'n', right: 1 };
  const named = ['("n" add 1)', '(n add 1)', '1', '1,2', '"n",1', ' float32['];
  expect(shapeOf('relu', [sum])).toEqual([sum]);
  for (const name of named) expect(shapeOf('relu', [name])).toEqual([name]);
  expect(shapeOf('relu', [1])).toEqual([1]);
  expect(shapeOf('relu', [1, 2])).toEqual([1, 2]);
});

test('attributes count', () => {
  const perm = (...axes: number[]) => shapeOf('transpose', ['m', 2, 3], { perm: axes });
  expect(perm(2, 1, 0)).toEqual([3, 2, 'm']);
  expect(perm(0, 2, 1)).toEqual(['m', 3, 2]);
});

test('what is known of symbols counts', () => {
  const clipped = float({ op: 'min', left: 'n', right: 8 });
  const bounded = applyOperator(
    'relu',
    [clipped],
    {},
    { facts: new Map([['n', { min: 1, max: 4 }]]) },
  );
  expect(bounded.output.shape).toEqual(['n']);
  expect(applyOperator('relu', [clipped], {}).output.shape).not.toEqual(['n']);
});

test('a call that does not fit is refused each time', () => {
  for (let i = 0; i < 2; i++) {
    const wrong = () => applyOperator('add', [float(2), float(3)], {});
    expect(wrong).toThrow('add: got (2,) and (3,), expected shapes that broadcast');
  }
});
