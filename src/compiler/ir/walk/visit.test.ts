import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../core/random.ts';
import {
  call,
  callFunction,
  constructorPattern,
  func,
  ifElse,
  int,
  letIn,
  match,
  projection,
  scalar,
  tuple,
  tuplePattern,
  variable,
  variableOf,
  wildcard,
} from '../build.ts';
import type { Expr } from '../expr.ts';
import { printExpr } from '../text/print.ts';
import { randomModule } from '../../testing/random-module.ts';
import { bindersOf, childrenOf, postOrder, rewrite, rewriteBodies, withChildren } from './visit.ts';

const x = variable('x', 'float32', [4]);
const relu = call('relu', [x]);
const [a, b] = [variableOf('a'), variableOf('b')];

describe('children and binders of each kind', () => {
  const one = int(1);

  test.each<[string, Expr, readonly Expr[], readonly Expr[]]>([
    ['var', x, [], []],
    ['constant', scalar(1), [], []],
    ['int', one, [], []],
    ['call of an operator', call('add', [x, one]), [x, one], []],
    ['call of a value', callFunction(a, [x, one]), [x, one, a], []],
    ['function', func([a, b], one), [one], [a, b]],
    ['tuple', tuple([x, one]), [x, one], []],
    ['projection', projection(x, 0), [x], []],
    ['let', letIn(a, x, one), [x, one], [a]],
    ['if', ifElse(one, x, relu), [one, x, relu], []],
    [
      'match',
      match(x, [
        [constructorPattern('Cons', [a, tuplePattern([wildcard(), b])]), one],
        [wildcard(), relu],
      ]),
      [x, one, relu],
      [a, b],
    ],
  ])('%s', (_, expr, children, binders) => {
    expect(childrenOf(expr)).toEqual(children);
    expect(bindersOf(expr)).toEqual(binders);
    expect(withChildren(expr, (child) => child)).toBe(expr);
    const other = int(7);
    const changed = withChildren(expr, (child) => (binders.includes(child) ? child : other));
    expect(childrenOf(changed)).toEqual(children.map(() => other));
    expect(bindersOf(changed)).toEqual(binders);
  });
});

test('a variable is replaced where it is bound too', () => {
  const fresh = variableOf('fresh');
  const body = match(x, [[tuplePattern([a, wildcard()]), letIn(b, a, call('add', [a, b]))]]);
  const renamed = rewrite(body, (expr) => (expr === a ? fresh : expr));
  expect(printExpr(renamed)).toMatchInlineSnapshot(`
    "match (%x) {
      (%fresh, _) => {
        let %b = %fresh;
        add(%fresh, %b)
      },
    }
    "
  `);
});

test('sharing stays, and what does not change keeps its identity', () => {
  const neg = call('neg', [x]);
  const body = tuple([call('add', [relu, relu]), neg, relu]);
  const result = rewrite(body, (expr) => (expr === relu ? call('tanh', [x]) : expr));
  const [sum, same, tanh] = childrenOf(result);
  expect(same).toBe(neg);
  expect(sum).toMatchObject({ kind: 'call', args: [tanh, tanh] });
  expect(new Set(postOrder(result)).size).toBe(5);
});

test('each node is seen once, after its children', () => {
  for (let seed = 0; seed < 50; seed++) {
    const module = randomModule({ random: seededRandom(seed) });
    for (const fn of module.functions.values()) {
      const seen = new Set<Expr>();
      for (const expr of postOrder(fn)) {
        expect(seen.has(expr)).toBe(false);
        expect(childrenOf(expr).every((child) => seen.has(child))).toBe(true);
        seen.add(expr);
      }
    }
    expect(rewriteBodies(module, (expr) => expr)).toBe(module);
  }
});

test('10,000 nested expressions of every kind', () => {
  let body: Expr = x;
  for (let i = 0; i < 10_000; i++) {
    const kinds: readonly Expr[] = [
      call('relu', [body]),
      func([], body),
      tuple([body]),
      letIn(variableOf('y'), body, int(1)),
      letIn(variableOf('y'), int(1), body),
      ifElse(int(1), body, int(0)),
      match(int(1), [[wildcard(), body]]),
    ];
    body = kinds[i % kinds.length] ?? body;
  }
  const y = variable('y', 'float32', [4]);
  const result = rewrite(body, (expr) => (expr === x ? y : expr));
  expect(postOrder(result).includes(y)).toBe(true);
  expect(postOrder(result).includes(x)).toBe(false);
});
