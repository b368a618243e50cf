import { expect, test } from 'vitest';
import { HostTensor } from '../../core/host-tensor.ts';
import { call, constant, func, moduleOf, tuple, variable } from '../ir/build.ts';
import type { Expr } from '../ir/expr.ts';
import { printModule } from '../ir/print.ts';
import { TypeInference } from '../inference/type-inference.ts';
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
