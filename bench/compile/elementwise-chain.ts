import { call, func, moduleOf, variable } from '../../src/compiler/ir/build.ts';
import type { Expr, Module } from '../../src/compiler/ir/expr.ts';

const OPERATORS = ['relu', 'exp', 'neg', 'tanh', 'sigmoid', 'sqrt'];

/**
 * `main(x: float32 (n, 64))`: so many elementwise calls one after another, each eighth a sum with
 * an earlier value, so that not all of it can become one kernel.
 */
export function elementwiseChain(length: number): Module {
  const x = variable('x', 'float32', ['n', 64]);
  const values: Expr[] = [x];
  for (let i = 1; i <= length; i++) {
    const last = values[i - 1] ?? x;
    const earlier = values[Math.max(0, i - 20)] ?? x;
    const operator = OPERATORS[i % OPERATORS.length] ?? 'relu';
    values.push(i % 8 === 0 ? call('add', [last, earlier]) : call(operator, [last]));
  }
  return moduleOf({ main: func([x], values.at(-1) ?? x) });
}
