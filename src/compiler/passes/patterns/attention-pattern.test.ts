import { describe, expect, test } from 'vitest';
import { firstDifference } from '../../../core/tensor/all-close.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { call, constant, func, moduleOf, tuple, variable } from '../../ir/build.ts';
import type { Expr, Module } from '../../ir/expr.ts';
import { evaluateModule } from '../../evaluation/evaluate-module.ts';
import { printModule } from '../../ir/text/print.ts';
import { TypeInference } from '../../inference/type-inference.ts';
import { recognizeOperators } from './recognize-operators.ts';

const query = variable('q', 'float32', ['b', 3, 'n', 8]);
const key = variable('k', 'float32', ['b', 3, 'm', 8]);
const value = variable('v', 'float32', ['b', 3, 'm', 5]);
const bias = variable('mask', 'float32', ['b', 1, 1, 'm']);
const isSeen = variable('seen', 'bool', ['n', 'm']);

const number = (of: number): Expr => constant(HostTensor.from('float32', [], [of]));
const turned = (x: Expr, perm = [0, 1, 3, 2]): Expr => call('transpose', [x], { perm });
const matmul = (a: Expr, b: Expr): Expr => call('matmul', [a, b]);
const softmax = (x: Expr, axis = -1): Expr => call('softmax', [x], { axis });
const products = matmul(query, turned(key));

function recognized(body: Expr): string {
  const module = moduleOf({ main: func([query, key, value, bias, isSeen], body) });
  return printModule(recognizeOperators.run(module, { types: new TypeInference() }));
}

const ATTENTION = 'scaled_dot_product_attention(%q, %k, %v';

test.each<[string, Expr, string]>([
  ['alone', products, `${ATTENTION}, scale=1)`],
  ['scaled by a product', call('mul', [number(0.5), products]), 'scale=0.5)'],
  ['scaled by a quotient', call('div', [products, number(4)]), 'scale=0.25)'],
  ['scaled keys', matmul(query, call('mul', [turned(key), number(0.5)])), 'scale=0.5)'],
  [
    'a bias',
    call('add', [call('div', [products, number(4)]), bias]),
    `${ATTENTION}, %mask, scale=0.25`,
  ],
  ['a bias before', call('add', [bias, products]), `${ATTENTION}, %mask, scale=1`],
  ['a mask', call('where', [isSeen, products, number(-3.4e38)]), ATTENTION],
  ['an inverted mask', call('where', [isSeen, number(-Infinity), products]), ATTENTION],
])('%s', (_, scores, expected) => {
  const text = recognized(matmul(softmax(scores), value));
  expect(text).toContain(expected);
  expect(text).not.toContain('softmax(');
});

test('what a mask adds', () => {
  const scores = call('where', [isSeen, products, number(-1e38)]);
  expect(recognized(matmul(softmax(scores), value))).toMatchSnapshot();
});

test('keys that lie in another order are transposed', () => {
  const rows = variable('rows', 'float32', ['b', 'm', 3, 8]);
  const scores = matmul(query, turned(rows, [0, 2, 3, 1]));
  const module = moduleOf({ main: func([query, rows, value], matmul(softmax(scores), value)) });
  const text = printModule(recognizeOperators.run(module, { types: new TypeInference() }));
  expect(text).toContain('transpose(%rows, perm=[0, 2, 1, 3])');
});

describe('heads that are repeated for groups of queries', () => {
  const queries = variable('q', 'float32', [2, 6, 'n', 4]);
  const keys = variable('k', 'float32', [2, 3, 'm', 4]);
  const values = variable('v', 'float32', [2, 3, 'm', 4]);
  const repeated = (x: Expr, count: number, shape: Dim[] = [2, 3, 1, 'm', 4]): Expr => {
    const many = call('broadcast_to', [call('reshape', [x], { shape })], {
      shape: [2, 3, count, 'm', 4],
    });
    return call('reshape', [many], { shape: [2, 3 * count, 'm', 4] });
  };
  const grouped = (key: Expr, value: Expr): Module => {
    const scores = matmul(queries, turned(key));
    return moduleOf({
      main: func([queries, keys, values], matmul(softmax(scores), value)),
    });
  };

  test('are those that the operator repeats itself', () => {
    const module = grouped(repeated(keys, 2), repeated(values, 2));
    const after = recognizeOperators.run(module, { types: new TypeInference() });
    expect(printModule(after)).toContain('scaled_dot_product_attention(%q, %k, %v, scale=1)');
    const tensor = (shape: number[], phase: number): HostTensor => {
      const count = shape.reduce((product, size) => product * size, 1);
      const data = Array.from({ length: count }, (_, i) => Math.sin(i + phase));
      return HostTensor.from('float32', shape, data);
    };
    const inputs = [tensor([2, 6, 3, 4], 0), tensor([2, 3, 5, 4], 1), tensor([2, 3, 5, 4], 2)];
    const [expected, actual] = [module, after].map((one) => evaluateModule(one, 'main', inputs));
    if (!(expected instanceof HostTensor && actual instanceof HostTensor))
      throw new Error('no tensors');
    expect(firstDifference(actual, expected, { rtol: 1e-5, atol: 1e-6 })).toBeUndefined();
  });

  test('not if keys and values differ, or elements are repeated in another order', () => {
    const six = variable('w', 'float32', [2, 6, 'm', 4]);
    const others = call(
      'reshape',
      [
        call('broadcast_to', [call('reshape', [keys], { shape: [2, 1, 3, 'm', 4] })], {
          shape: [2, 2, 3, 'm', 4],
        }),
      ],
      { shape: [2, 6, 'm', 4] },
    );
    for (const [key, value] of [
      [repeated(keys, 2), six],
      [others, others],
    ] as const) {
      const scores = matmul(queries, turned(key));
      const params = [queries, keys, values, six];
      const module = moduleOf({ main: func(params, matmul(softmax(scores), value)) });
      const text = printModule(recognizeOperators.run(module, { types: new TypeInference() }));
      expect(text).toMatch(/scaled_dot_product_attention\(%q, %\d+, %(w|\d+), scale=1\)/);
    }
  });
});

const weights = softmax(products);

test.each<[string, Expr]>([
  ['scores that are read elsewhere', tuple([matmul(weights, value), products])],
  ['weights that are read elsewhere', tuple([matmul(weights, value), weights])],
  ['softmax along queries', matmul(softmax(products, 2), value)],
  [
    'a mask of small numbers',
    matmul(softmax(call('where', [isSeen, products, number(-10)])), value),
  ],
  [
    'keys that are not transposed',
    matmul(softmax(matmul(query, call('relu', [turned(key)]))), value),
  ],
])('not with %s', (_, body) => {
  expect(recognized(body)).not.toContain('attention');
});
