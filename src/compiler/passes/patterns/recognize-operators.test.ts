import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { call, constant, func, moduleOf, variable } from '../../ir/build.ts';
import type { Expr } from '../../ir/expr.ts';
import { printModule } from '../../ir/text/print.ts';
import { TypeInference } from '../../inference/type-inference.ts';
import { recognizeOperators } from './recognize-operators.ts';

const x = variable('x', 'float32', [2, 'n', 8]);

function recognized(body: Expr): string {
  const module = moduleOf({ main: func([x], body) });
  return printModule(recognizeOperators.run(module, { types: new TypeInference() }));
}

const number = (value: number): Expr => constant(HostTensor.from('float32', [], [value]));
const mul = (a: Expr, b: Expr): Expr => call('mul', [a, b]);
const add = (a: Expr, b: Expr): Expr => call('add', [a, b]);
const square = (a: Expr): Expr => call('pow', [a, number(2)]);

function spelledOut(options: { axis?: number; square?: (a: Expr) => Expr } = {}): Expr {
  const mean = (of: Expr) =>
    call('reduce_mean', [of], { axes: [options.axis ?? 2], keepdims: true });
  const center = mean(x);
  const variance = mean((options.square ?? square)(call('sub', [x, center])));
  const deviation = call('sqrt', [add(variance, number(0.5))]);
  return call('div', [call('sub', [x, center]), deviation]);
}

describe('layer normalisation', () => {
  test('by a power or a product', () => {
    expect(recognized(spelledOut())).toContain('layer_norm(%x, epsilon=0.5)');
    expect(recognized(spelledOut({ square: (a) => mul(a, a) }))).toContain('layer_norm(%x');
  });

  test('not along another axis, nor of another power', () => {
    expect(recognized(spelledOut({ axis: 1 }))).not.toContain('layer_norm');
    const cubed = (a: Expr) => call('pow', [a, number(3)]);
    expect(recognized(spelledOut({ square: cubed }))).not.toContain('layer_norm');
  });
});

describe('GELU', () => {
  const erf = add(call('erf', [call('div', [x, number(Math.fround(Math.SQRT2))])]), number(1));

  test.each([
    [mul(mul(x, number(0.5)), erf)],
    [mul(mul(erf, x), number(0.5))],
    [mul(number(0.5), mul(x, add(number(1), call('erf', [mul(number(Math.SQRT1_2), x)]))))],
  ])('by erf, in any order (%#)', (body) => {
    expect(recognized(body)).toContain('gelu(%x, approximate="none")');
  });

  test('by tanh', () => {
    const cubic = mul(call('pow', [x, number(3)]), number(0.044715));
    const inner = mul(add(x, cubic), number(0.7978845608));
    const body = mul(mul(x, number(0.5)), add(call('tanh', [inner]), number(1)));
    expect(recognized(body)).toContain('gelu(%x, approximate="tanh")');
  });

  test('not with other constants, nor of two values', () => {
    expect(recognized(mul(mul(x, number(0.25)), erf))).not.toContain('gelu');
    const other = call('relu', [x]);
    expect(recognized(mul(mul(other, number(0.5)), erf))).not.toContain('gelu');
  });
});
