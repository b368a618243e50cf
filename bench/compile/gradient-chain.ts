import {
  call,
  callFunction,
  func,
  gradient,
  moduleOf,
  variable,
} from '../../src/compiler/ir/build.ts';
import type { Expr, Module, VarExpr } from '../../src/compiler/ir/expr.ts';
import { elementwiseChain } from './elementwise-chain.ts';

/** A program, and the one that gives its value and gradient. */
export interface WithGradient {
  readonly forward: Module;
  readonly withGradient: Module;
}

/** The sum of an elementwise chain, most of which fuses as long as nobody else reads what is in between. */
export function elementwiseGradient(length: number): WithGradient {
  const chain = elementwiseChain(length).functions.get('main');
  if (chain === undefined) throw new Error('internal: a chain without main');
  return bothOf(chain.params, call('reduce_sum', [chain.body]));
}

/** Layers of a product and an activation, two calls each, over the same weights. */
export function layerGradient(length: number): WithGradient {
  const [x, w] = [variable('x', 'float32', ['n', 64]), variable('w', 'float32', [64, 64])];
  let value: Expr = x;
  for (let i = 0; i < length; i += 2) value = call('tanh', [call('matmul', [value, w])]);
  return bothOf([x, w], call('reduce_sum', [value]));
}

function bothOf(params: readonly VarExpr[], body: Expr): WithGradient {
  const sum = func(params, body);
  const own = params.map((param) => ({ ...param }));
  const main = func(own, callFunction(gradient(sum), own));
  return { forward: moduleOf({ main: sum }), withGradient: moduleOf({ main }) };
}
