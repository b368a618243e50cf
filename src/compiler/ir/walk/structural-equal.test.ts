import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../../core/random.ts';
import {
  call,
  callFunction,
  constant,
  constructorPattern,
  func,
  ifElse,
  int,
  letIn,
  match,
  moduleOf,
  polymorphic,
  scalar,
  tuple,
  variable,
  variableOf,
  wildcard,
} from '../build.ts';
import type { Expr } from '../expr.ts';
import { randomModule } from '../../testing/random-module.ts';
import { equalExprs, equalModules, hashExpr, hashModule } from './structural-equal.ts';

/** Asserts that hashes agree wherever expressions are equal. */
function areEqual(a: Expr, b: Expr): boolean {
  const equal = equalExprs(a, b);
  expect(equalExprs(b, a)).toBe(equal);
  expect(hashExpr(a) === hashExpr(b)).toBe(equal);
  return equal;
}

const lambda = (name: string, body: (x: Expr) => Expr): Expr => {
  const x = variable(name, 'float32', [4]);
  return func([x], body(x));
};

describe('what does not matter', () => {
  test('names of variables', () => {
    const relu = (x: Expr): Expr => call('relu', [x]);
    expect(areEqual(lambda('x', relu), lambda('y', relu))).toBe(true);
    const list = variableOf('list');
    const first = (name: string): Expr => {
      const head = variableOf(name);
      return match(list, [[constructorPattern('Cons', [head, wildcard()]), head]]);
    };
    expect(areEqual(first('a'), first('b'))).toBe(true);
  });

  test('names of type parameters', () => {
    const identity = (name: string): Expr => {
      const type = { kind: 'type-var', name } as const;
      const x = variableOf('x', type);
      return polymorphic([name], func([x], x), type);
    };
    expect(areEqual(identity('A'), identity('B'))).toBe(true);
  });

  test('places, the order of attributes, the identity of constants, how they are stored', () => {
    const make = (value: HostTensor, source: string): Expr =>
      call('clip', [constant(value)], source === 'a' ? { min: 0, max: 1 } : { max: 1, min: 0 }, {
        source,
      });
    const splat = HostTensor.splat('float32', [2], 3);
    const dense = HostTensor.from('float32', [2], [3, 3]);
    expect(areEqual(make(splat, 'a'), make(dense, 'b'))).toBe(true);
  });
});

describe('what matters', () => {
  const x = variable('x', 'float32', [4]);
  const relu = (): Expr => call('relu', [x]);

  test('sharing', () => {
    const shared = relu();
    expect(areEqual(tuple([shared, shared]), tuple([relu(), relu()]))).toBe(false);
    expect(areEqual(tuple([int(1), int(1)]), tuple(Array.from({ length: 2 }, () => int(1))))).toBe(
      true,
    );
  });

  test('which variable is meant', () => {
    const swap = (order: (a: Expr, b: Expr) => readonly Expr[]): Expr => {
      const [a, b] = [variable('a', 'float32', [4]), variable('b', 'float32', [4])];
      return func([a, b], tuple(order(a, b)));
    };
    expect(
      areEqual(
        swap((a, b) => [a, b]),
        swap((a, b) => [b, a]),
      ),
    ).toBe(false);
    const other = variable('other', 'float32', [4]);
    expect(areEqual(call('relu', [x]), call('relu', [other]))).toBe(false);
  });

  test('where a value is computed', () => {
    const log = call('log', [x]);
    const bound = variableOf('l');
    const body = (value: Expr): Expr => lambda('y', (y) => call('add', [value, y]));
    expect(areEqual(letIn(bound, log, body(bound)), body(log))).toBe(false);
  });

  test.each([
    ['dtypes', variable('x', 'float32', [4]), variable('x', 'int32', [4])],
    ['dimensions', variable('x', 'float32', ['n']), variable('x', 'float32', ['m'])],
    ['-0', scalar(0), scalar(-0)],
    ['integers', int(1), int(2)],
    ['branches', ifElse(int(1), int(2), int(3)), ifElse(int(1), int(3), int(2))],
    ['attributes', call('clip', [], { min: 0 }), call('clip', [], { min: -0 })],
    ['absent types', variableOf('x'), variable('x', 'float32', [4])],
  ])('%s', (_, a, b) => {
    const wrap = (expr: Expr): Expr => (expr.kind === 'var' ? func([expr], expr) : expr);
    expect(areEqual(wrap(a), wrap(b))).toBe(false);
  });
});

test('a module equals itself made again, and no other', () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer(), (a, b) => {
      const [first, again, other] = [a, a, b].map((seed) =>
        randomModule({ random: seededRandom(seed) }),
      );
      if (first === undefined || again === undefined || other === undefined) throw new Error();
      expect(equalModules(first, again)).toBe(true);
      expect(hashModule(first)).toBe(hashModule(again));
      expect(hashModule(first) === hashModule(other)).toBe(equalModules(first, other));
    }),
    { numRuns: 200, seed: 3 },
  );
});

test('metadata and types are part of a module', () => {
  const main = func([], int(1));
  const type = { name: 'Unit', params: [], constructors: [{ name: 'Unit', fields: [] }] };
  const modules = [
    moduleOf({ main }),
    moduleOf({ main }, { producer: 'me' }),
    moduleOf({ main }, {}, [type]),
    moduleOf({ other: main }),
  ];
  expect(new Set(modules.map(hashModule)).size).toBe(4);
});

test('10,000 shared nodes and 10,000 nested functions are compared in linear time', () => {
  const make = (): Expr => {
    let expr: Expr = scalar(1);
    for (let i = 0; i < 10_000; i++) expr = call('add', [expr, expr]);
    for (let i = 0; i < 10_000; i++) expr = callFunction(func([], expr), []);
    return expr;
  };
  expect(equalExprs(make(), make())).toBe(true);
});
