import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../core/random.ts';
import {
  call,
  callFunction,
  func,
  ifElse,
  int,
  letIn,
  match,
  scalar,
  tuple,
  variableOf,
  wildcard,
} from '../build.ts';
import type { Expr } from '../expr.ts';
import { randomModule } from '../../testing/random-module.ts';
import { commonScope, computeScopes, holds, type Scope } from './scopes.ts';

const x = variableOf('x');

describe('the innermost scope that holds all uses', () => {
  const relu = call('relu', [x]);

  /** The depth of the scope in which a body computes relu(x). */
  const depthIn = (body: Expr): number => computeScopes(func([x], body)).of(relu).depth;

  test.each<[string, number, Expr]>([
    ['one branch', 1, ifElse(x, relu, int(0))],
    ['both branches', 0, ifElse(x, relu, relu)],
    ['a branch, and after it', 0, tuple([ifElse(x, relu, int(0)), relu])],
    ['the condition and a branch', 0, ifElse(relu, relu, int(0))],
    ['two branches further in', 1, ifElse(x, ifElse(x, relu, tuple([relu])), int(0))],
    ['a closure', 1, func([], relu)],
    ['a closure and the argument of its call', 0, callFunction(func([], relu), [relu])],
    [
      'a clause',
      1,
      match(x, [
        [wildcard(), relu],
        [wildcard(), int(0)],
      ]),
    ],
    [
      'two clauses',
      0,
      match(x, [
        [wildcard(), relu],
        [wildcard(), relu],
      ]),
    ],
    ['the value of a let in a branch', 1, ifElse(x, letIn(variableOf('y'), relu, int(0)), int(0))],
    ['the body of a let', 0, letIn(variableOf('y'), int(0), relu)],
  ])('%s', (_, depth, body) => {
    expect(depthIn(body)).toBe(depth);
  });

  test('a node that refers to a shared one does not move it', () => {
    const inner = call('neg', [relu]);
    const scopes = computeScopes(func([x], ifElse(x, tuple([inner, inner]), relu)));
    expect(scopes.of(inner).depth).toBe(1);
    expect(scopes.of(relu).depth).toBe(0);
  });

  test('with lets, the body of a let is a scope', () => {
    const y = variableOf('y');
    const body = letIn(y, relu, call('neg', [y]));
    const scopes = computeScopes(func([x], body), { lets: true });
    expect(scopes.of(relu)).toBe(scopes.top);
    expect(scopes.inside(body).map(({ root }) => root)).toEqual([body.body]);
    expect(scopes.of(y).parent).toBe(scopes.top);
  });
});

test('scopes are found as by walking up one by one', () => {
  const path = (scope: Scope): Scope[] => {
    const above: Scope[] = [];
    for (let s: Scope | undefined = scope; s !== undefined; s = s.parent) above.push(s);
    return above;
  };
  for (let seed = 0; seed < 20; seed++) {
    for (const fn of randomModule({ random: seededRandom(seed), size: 60 }).functions.values()) {
      const scopes = computeScopes(fn, { lets: true });
      const all = [...new Set(scopes.order.map((expr) => scopes.of(expr)))];
      for (const a of all) {
        for (const b of all) {
          const common = path(a).find((scope) => path(b).includes(scope));
          expect(commonScope(a, b)).toBe(common);
          expect(holds(a, b)).toBe(path(b).includes(a));
        }
      }
    }
  }
});

test('operands are computed in the same scope or outside, and before', () => {
  for (let seed = 0; seed < 50; seed++) {
    for (const fn of randomModule({ random: seededRandom(seed) }).functions.values()) {
      const scopes = computeScopes(fn);
      const position = new Map(scopes.order.map((expr, i) => [expr, i]));
      for (const expr of scopes.order) {
        if (expr.kind !== 'call') continue;
        for (const arg of expr.args) {
          expect(holds(scopes.of(arg), scopes.of(expr))).toBe(true);
          expect(position.get(arg)).toBeLessThan(position.get(expr) ?? -1);
        }
      }
    }
  }
});

test('10,000 nested branches, closures and lets with what they share', () => {
  const shared = scalar(2);
  const value = call('relu', [shared]);
  let body: Expr = value;
  for (let i = 0; i < 10_000; i++) {
    const y = variableOf('y');
    body = letIn(
      y,
      value,
      ifElse(value, callFunction(func([], body), []), call('add', [y, value])),
    );
  }
  const scopes = computeScopes(func([], body), { lets: true });
  expect(scopes.of(value)).toBe(scopes.top);
});
