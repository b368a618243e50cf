import { expect, test } from 'vitest';
import { compile } from './compile.ts';
import {
  call,
  callFunction,
  func,
  ifElse,
  int,
  letIn,
  match,
  moduleOf,
  projection,
  tuple,
  variable,
  variableOf,
  wildcard,
} from './ir/build.ts';
import type { Expr } from './ir/expr.ts';
import { INT_TYPE } from './ir/type.ts';
import { verifyModule } from './verify/verify-module.ts';

const x = variable('x', 'float32', [4]);
const c = variableOf('c', INT_TYPE);

/** One step of nesting around an expression of the type of `x`, and how deep it is tried. */
test.each<[string, number, (inner: Expr) => Expr]>([
  ['operators that fuse', 1000, (inner) => call('add', [inner, x])],
  ['bodies of lets', 2000, (inner) => letIn(variableOf('y'), call('tanh', [x]), inner)],
  [
    'values of lets',
    2000,
    (inner) => {
      const y = variableOf('y');
      return letIn(y, inner, call('relu', [y]));
    },
  ],
  ['branches', 2000, (inner) => ifElse(c, inner, x)],
  ['branches that share', 1000, (inner) => ifElse(c, inner, call('relu', [inner]))],
  ['clauses', 1000, (inner) => match(c, [[wildcard(), inner]])],
  ['tuples', 1000, (inner) => projection(tuple([inner, int(1)]), 0)],
  ['closures', 350, (inner) => callFunction(func([], call('relu', [inner])), [])],
])('deep nests of %s', (_, depth, nest) => {
  let body: Expr = call('softmax', [x], { axis: 0 });
  for (let i = 0; i < depth; i++) body = nest(body);
  const module = moduleOf({ main: func([x, c], body) });
  verifyModule(module);
  expect(compile(module).functions.map(({ name }) => name)).toContain('main');
});
